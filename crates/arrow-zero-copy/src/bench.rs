//! What this lesson times: the code points of a column of strings, and the rows that contain a word.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use lesson_kit::bench::{Case, Work, serve, timed};
use memchr::memmem::Finder;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use string_fast_path::after::{Surrogates, encode, encode_list};

use crate::after::{BLOCK, Segment, Strings, code_points, code_points_of, containing};

/// pandas `str` columns: real flights' tail numbers and destinations, and a generated table.
const COLUMNS: &std::ffi::CStr = c"
import numpy, pandas, pyarrow, pyarrow.compute as compute, pyarrow.feather as feather
def make(path, rows):
    flights = feather.read_table(path, columns=['dest', 'tailnum'])
    text = compute.binary_join_element_wise(
        flights['dest'].cast('string'),
        compute.fill_null(flights['tailnum'].cast('string'), 'none'), ' ')
    text = pyarrow.concat_arrays((text.chunks * (rows // len(text) + 1)))[:rows]
    draw = numpy.random.default_rng(1)
    words = pyarrow.array(['Frankfurt', 'Zürich', 'Göteborg', 'New York JFK', 'Los Angeles', 'LAX'])
    picked = [words.take(pyarrow.array(draw.integers(0, 6, rows))) for _ in range(3)]
    table = compute.binary_join_element_wise(*picked, ' via ')
    return {name: pandas.Series(pandas.array(column, dtype='str'))
            for name, column in (('flight-texts', text), ('table', table))}
def objects(series):
    return series.to_numpy(object).tolist()
def arrow(series):
    return pyarrow.chunked_array(series.array._pa_array)
def length(column):
    return compute.sum(compute.utf8_length(column)).as_py()
def contains(column, word):
    return compute.sum(compute.match_substring(column, word)).as_py()
";

/// A word that about a third of the rows have.
const WORD: &str = "LAX";

fn find(text: &[u8]) -> Option<usize> {
    static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(WORD));
    FINDER.find(text)
}

/// A run, with its answer checked: a fast wrong answer is no measurement.
fn checked(
    expected: usize,
    run: impl Fn(Python<'_>, usize) -> PyResult<usize> + Send + Sync + 'static,
) -> Work {
    timed(move |py, threads| {
        let got = run(py, threads)?;
        if got != expected {
            let text = format!("the answer is {got} and should be {expected}");
            return Err(PyRuntimeError::new_err(text));
        }
        Ok(())
    })
}

/// The same bytes, read and nothing else: eight sums at once, so that only memory limits them.
fn read(segment: Segment<'_>) -> usize {
    let text = segment.text().unwrap_or_default();
    let (chunks, rest) = text.as_chunks::<64>();
    let mut sums = [0_u64; 8];
    for chunk in chunks {
        for (sum, word) in sums.iter_mut().zip(chunk.as_chunks::<8>().0) {
            *sum = sum.wrapping_add(u64::from_le_bytes(*word));
        }
    }
    let sum = sums.iter().fold(rest.len() as u64, |all, sum| all.wrapping_add(*sum));
    black_box(sum);
    0
}

/// Answers from the text of many rows with their offsets.
type Answer = fn(&[u8], &[i64]) -> usize;
/// The same of a segment, where it lies.
type InPlace = fn(Segment<'_>) -> usize;

fn points_of(text: &[u8], _: &[i64]) -> usize {
    // The same loop as in place: what differs is how the text was come by.
    code_points_of(text)
}

fn rows_with(text: &[u8], offsets: &[i64]) -> usize {
    let hit = |ends: &&[i64]| find(&text[ends[0] as usize..ends[1] as usize]).is_some();
    offsets.windows(2).filter(|ends| hit(ends)).count()
}

/// Serves the driver.
#[pyfunction(name = "serve")]
fn serve_lesson(
    module: &Bound<'_, PyAny>,
    rows: usize,
    slow: usize,
    data: PathBuf,
) -> PyResult<()> {
    let py = module.py();
    let columns = PyModule::from_code(py, COLUMNS, c"columns.py", c"columns")?;
    // 10M rows in the long profile.
    let rows = if rows >= 4_000_000 { 10_000_000 } else { rows * 4 };
    let mut cases = Vec::new();
    let made = columns.getattr("make")?.call1((data.join("flights.arrow"), rows))?;
    for item in made.call_method0("items")?.try_iter()? {
        let (name, series): (String, Bound<'_, PyAny>) = item?.extract()?;
        let few = slow.min(rows);
        let head = series.get_item(pyo3::types::PySlice::new(py, 0, few as isize, 1))?;
        let strings = Arc::new(Strings::of(&series)?);
        let questions: [(&str, Answer, InPlace, &str); 2] = [
            (&name, points_of, code_points, "length"),
            (&format!("{name}-filter"), rows_with, |s| containing(s, &find).len(), "contains"),
        ];
        for (workload, of_text, of_segment, compute) in questions {
            let count =
                |strings: &Strings| strings.scan(py, 2, of_segment).into_iter().sum::<usize>();
            let (all, part) = (count(&strings), count(&Strings::of(&head)?));
            let case = |variant: &str, rows, work: Work| Case::new(variant, workload, rows, work);
            // An object for each row, for each query; then its characters.
            let (objects, own) = (columns.getattr("objects")?.unbind(), head.clone().unbind());
            let work = checked(part, move |py, _| {
                let list = objects.bind(py).call1((&own,))?.cast_into::<PyList>()?;
                let text = encode_list(&list, 0..list.len(), Surrogates::Refuse)?;
                Ok(of_text(&text.bytes, &text.offsets))
            });
            cases.push(case("before:to-numpy", few, work).on_one_thread());
            // Objects that are there already, read by threads that never attach.
            let list = columns.getattr("objects")?.call1((&head,))?.cast_into::<PyList>()?;
            let kept: Arc<Vec<Py<PyAny>>> = Arc::new(list.iter().map(Bound::unbind).collect());
            let work = checked(part, move |py, threads| {
                Ok(py.detach(|| over_blocks(&kept, threads, of_text)))
            });
            cases.push(case("between:objects", few, work));
            let in_place = |expected, each: InPlace| {
                let column = strings.clone();
                checked(expected, move |py, threads| {
                    Ok(column.scan(py, threads, each).into_iter().sum())
                })
            };
            cases.push(case("zero-copy", rows, in_place(all, of_segment)));
            if compute == "length" {
                cases.push(case("limit:bandwidth", rows, in_place(0, read)));
            }
            let arrow = columns.getattr("arrow")?.call1((&head,))?.unbind();
            let function = columns.getattr(compute)?.unbind();
            let work = checked(part, move |py, _| {
                let result = match compute {
                    "length" => function.call1(py, (&arrow,))?,
                    _ => function.call1(py, (&arrow, WORD))?,
                };
                result.extract(py)
            });
            cases.push(case("peer:pyarrow", few, work).on_one_thread());
        }
    }
    serve(py, &cases, module)
}

fn over_blocks(objects: &[Py<PyAny>], threads: usize, answer: Answer) -> usize {
    let blocks: Vec<&[Py<PyAny>]> = objects.chunks(BLOCK).collect();
    let (next, total) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                // Relaxed: numbers, and a sum that the joins publish.
                while let Some(block) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let text = encode(block, Surrogates::Refuse, None).expect("no surrogates");
                    total.fetch_add(answer(&text.bytes, &text.offsets), Ordering::Relaxed);
                }
            });
        }
    });
    total.into_inner()
}

/// Adds the lesson's bench to its submodule.
pub fn register(lesson: &Bound<'_, PyModule>) -> PyResult<()> {
    lesson.add_function(wrap_pyfunction!(serve_lesson, lesson)?)
}
