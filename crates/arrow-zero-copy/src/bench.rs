//! What this lesson times: the code points of a column of strings, the rows that contain a word, and
//! the rows of each distinct text.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

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
def groups(column):
    counts = compute.value_counts(column).field(1)
    return compute.sum(compute.multiply(counts, counts)).as_py()
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

/// Rows by text; the keys are the column's own memory, or the list's.
type Groups<'text> = hashbrown::HashMap<&'text [u8], usize>;

/// One number for a grouping: the sum of the squares of the counts.
fn squares<'text>(parts: impl IntoIterator<Item = Groups<'text>>) -> usize {
    let mut parts = parts.into_iter();
    let mut all = parts.next().unwrap_or_default();
    for (text, rows) in parts.flatten() {
        *all.entry(text).or_default() += rows;
    }
    all.values().map(|rows| rows * rows).sum()
}

fn groups<'text>(rows: impl Iterator<Item = &'text [u8]>) -> Groups<'text> {
    let mut groups = Groups::new();
    for text in rows {
        *groups.entry(text).or_default() += 1;
    }
    groups
}

/// What is asked of a column; each answer is one number.
#[derive(Clone, Copy)]
enum Question {
    Length,
    Contains,
    Groups,
}

impl Question {
    const ALL: [(Self, &str, &str); 3] = [
        (Self::Length, "", "length"),
        (Self::Contains, "-filter", "contains"),
        (Self::Groups, "-groups", "groups"),
    ];

    /// Of texts that lie one after the other, on this thread.
    fn of_text(self, text: &[u8], offsets: &[i64]) -> usize {
        let rows = || offsets.windows(2).map(|ends| &text[ends[0] as usize..ends[1] as usize]);
        match self {
            // The same loop as in place: what differs is how the text was come by.
            Self::Length => code_points_of(text),
            Self::Contains => rows().filter(|row| find(row).is_some()).count(),
            Self::Groups => squares([groups(rows())]),
        }
    }

    /// Of objects, on threads that never attach.
    fn of_objects(self, objects: &[Py<PyAny>], threads: usize) -> usize {
        let text = |block: &[Py<PyAny>]| {
            encode(block, Surrogates::Refuse, None).expect("there are no surrogates")
        };
        if let Self::Groups = self {
            let parts = over_blocks(objects, threads, |block| {
                let text = text(block);
                let rows = text.offsets.windows(2);
                let rows = rows.map(|ends| &text.bytes[ends[0] as usize..ends[1] as usize]);
                let own = |(row, count): (&[u8], usize)| (row.to_vec(), count);
                groups(rows).into_iter().map(own).collect::<Vec<_>>()
            });
            let mut all = hashbrown::HashMap::<Vec<u8>, usize>::new();
            for (row, count) in parts.into_iter().flatten() {
                *all.entry(row).or_default() += count;
            }
            return all.values().map(|rows| rows * rows).sum();
        }
        let parts = over_blocks(objects, threads, |block| {
            let text = text(block);
            self.of_text(&text.bytes, &text.offsets)
        });
        parts.into_iter().sum()
    }

    /// Of the column where it lies.
    fn in_place(self, py: Python<'_>, column: &Strings, threads: usize) -> usize {
        let rows = |segment: Segment<'_>| containing(segment, &find).len();
        match self {
            Self::Length => column.scan(py, threads, code_points).into_iter().sum(),
            Self::Contains => column.scan(py, threads, rows).into_iter().sum(),
            Self::Groups => squares(column.scan(py, threads, |segment| {
                groups((0..segment.rows()).filter_map(|row| segment.get(row)))
            })),
        }
    }
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
    // 10M rows in the long profile; bench/strings.py has as many.
    let rows = if rows >= 4_000_000 { 10_000_000 } else { rows * 4 };
    let mut cases = Vec::new();
    let made = columns.getattr("make")?.call1((data.join("flights.arrow"), rows))?;
    for item in made.call_method0("items")?.try_iter()? {
        let (name, series): (String, Bound<'_, PyAny>) = item?.extract()?;
        let few = slow.min(rows);
        let head = series.get_item(pyo3::types::PySlice::new(py, 0, few as isize, 1))?;
        let column = Arc::new(Strings::of(&series)?);
        let small = Strings::of(&head)?;
        for (question, suffix, compute) in Question::ALL {
            let workload = format!("{name}{suffix}");
            let (all, part) = (question.in_place(py, &column, 2), question.in_place(py, &small, 2));
            let case = |variant: &str, rows, work: Work| Case::new(variant, &workload, rows, work);
            // An object for each row, for each query; then its characters.
            let (objects, own) = (columns.getattr("objects")?.unbind(), head.clone().unbind());
            let work = checked(part, move |py, _| {
                let list = objects.bind(py).call1((&own,))?.cast_into::<PyList>()?;
                let text = encode_list(&list, 0..list.len(), Surrogates::Refuse)?;
                Ok(question.of_text(&text.bytes, &text.offsets))
            });
            cases.push(case("before:to-numpy", few, work).on_one_thread());
            // Objects that are there already.
            let list = columns.getattr("objects")?.call1((&head,))?.cast_into::<PyList>()?;
            let kept: Arc<Vec<Py<PyAny>>> = Arc::new(list.iter().map(Bound::unbind).collect());
            let work = checked(part, move |py, threads| {
                Ok(py.detach(|| question.of_objects(&kept, threads)))
            });
            cases.push(case("between:objects", few, work));
            let own = column.clone();
            let work = checked(all, move |py, threads| Ok(question.in_place(py, &own, threads)));
            cases.push(case("zero-copy", rows, work));
            if let Question::Length = question {
                let own = column.clone();
                let work = checked(0, move |py, threads| {
                    Ok(own.scan(py, threads, read).into_iter().sum())
                });
                cases.push(case("limit:bandwidth", rows, work));
            }
            let arrow = columns.getattr("arrow")?.call1((&head,))?.unbind();
            let function = columns.getattr(compute)?.unbind();
            let work = checked(part, move |py, _| {
                let result = match question {
                    Question::Contains => function.call1(py, (&arrow, WORD))?,
                    _ => function.call1(py, (&arrow,))?,
                };
                result.extract(py)
            });
            cases.push(case("peer:pyarrow", few, work).on_one_thread());
        }
    }
    serve(py, &cases, module)
}

fn over_blocks<T: Send>(
    objects: &[Py<PyAny>],
    threads: usize,
    each: impl Fn(&[Py<PyAny>]) -> T + Sync,
) -> Vec<T> {
    let blocks: Vec<&[Py<PyAny>]> = objects.chunks(BLOCK).collect();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                // Relaxed: it hands out numbers; what is done goes through the lock.
                while let Some(block) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let one = each(block);
                    done.lock().expect("nothing panics under it").push(one);
                }
            });
        }
    });
    done.into_inner().expect("nothing panics under it")
}

/// Adds the lesson's bench to its submodule.
pub fn register(lesson: &Bound<'_, PyModule>) -> PyResult<()> {
    lesson.add_function(wrap_pyfunction!(serve_lesson, lesson)?)
}
