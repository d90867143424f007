//! What this lesson times: a column of strings, to UTF-8 and back.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use lesson_kit::bench::{Case, Timing, Work, serve, timed};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::after::{self, Strings, Surrogates};
use crate::before;

/// Rows of a block, as the engine has them.
const BLOCK: usize = 65_536;

/// Columns: in the order of creation, shuffled in memory, and three kinds that are not ASCII.
const COLUMNS: &std::ffi::CStr = c"
import random
def make(rows):
    draw = random.Random(1)
    def column(text):
        # Each a string of its own: short, and none like its neighbour in length.
        return [text(i) + str(draw.randrange(10 ** draw.randrange(1, 7))) for i in range(rows)]
    ascii = column(lambda i: 'N' + 'abcdef'[: i % 6])
    shuffled = list(ascii)
    draw.shuffle(shuffled)
    return {
        'ascii': ascii,
        'shuffled': shuffled,
        'latin-1': column(lambda i: 'Zürich-Göteborg'[: 6 + i % 9]),
        'ucs-2': column(lambda i: 'Санкт-Петербург'[: 6 + i % 9]),
        'ucs-4': column(lambda i: 'flight 🛫 no. '[: 8 + i % 5]),
    }
def copies(strings):
    return [(s + '.')[:-1] for s in strings]
def to_arrow(strings):
    import pyarrow
    return pyarrow.array(strings, pyarrow.string())
";

type Column = Arc<Vec<Py<PyAny>>>;

/// Threads that never attach: each takes the next block and encodes it.
fn bare(column: Column) -> Work {
    Box::new(move |py, threads, iterations| {
        let blocks: Vec<&[Py<PyAny>]> = column.chunks(BLOCK).collect();
        let (next, ready) = (AtomicUsize::new(0), Barrier::new(threads));
        let work = || {
            ready.wait();
            // Each reads the clock itself, as in `attached_threads`: whoever only watched would begin
            // late.
            let start = Instant::now();
            loop {
                // Relaxed: it hands out numbers.
                let taken = next.fetch_add(1, Ordering::Relaxed);
                if taken >= blocks.len() * iterations as usize {
                    return (start, Instant::now());
                }
                let block = blocks[taken % blocks.len()];
                black_box(after::encode(block, Surrogates::Refuse, None))
                    .expect("there are no surrogates");
            }
        };
        let times: Vec<(Instant, Instant)> = py.detach(|| {
            std::thread::scope(|scope| {
                let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
                let join = |worker: std::thread::ScopedJoinHandle<'_, _>| {
                    worker.join().expect("encoding does not panic")
                };
                workers.into_iter().map(join).collect()
            })
        });
        let start = times.iter().map(|(start, _)| *start).min();
        let end = times.iter().map(|(_, end)| *end).max();
        let total = start.zip(end).map_or(Duration::ZERO, |(start, end)| end - start);
        Ok(Timing { total, first_block: None })
    })
}

/// The same over strings that nobody has looked at, made anew for each iteration beside the clock.
fn on_fresh(
    fresh: impl Fn(Python<'_>) -> PyResult<Py<PyList>> + Send + Sync + 'static,
    work: impl Fn(&Bound<'_, PyList>) -> PyResult<()> + Send + Sync + 'static,
) -> Work {
    Box::new(move |py, _, iterations| {
        let mut total = Duration::ZERO;
        for _ in 0..iterations {
            let list = fresh(py)?;
            let start = Instant::now();
            work(list.bind(py))?;
            total += start.elapsed();
        }
        Ok(Timing { total, first_block: None })
    })
}

/// The same over one list, again and again.
fn on_list(
    list: Py<PyList>,
    work: impl Fn(&Bound<'_, PyList>) -> PyResult<()> + Send + Sync + 'static,
) -> Work {
    timed(move |py, _| work(list.bind(py)))
}

/// The way back, which makes an object a row, each time.
fn back(
    columns: &Bound<'_, PyModule>,
    workload: &str,
    list: &Bound<'_, PyList>,
) -> PyResult<[Case; 3]> {
    let py = list.py();
    let strings = after::encode_list(list, 0..list.len(), Surrogates::Refuse)?;
    if !strings.decode(py)?.eq(list)? {
        let text = format!("{workload}: the strings do not come back as they were");
        return Err(PyRuntimeError::new_err(text));
    }
    let strings: Arc<Strings> = Arc::new(strings);
    let same = strings.clone();
    // Of copies: pyarrow leaves UTF-8 beside the strings that it is given.
    let copies = columns.getattr("copies")?.call1((list,))?;
    let array = columns.getattr("to_arrow")?.call1((copies,))?.unbind();
    let fast = timed(move |py, _| strings.decode(py).map(|made| drop(black_box(made))));
    let before = timed(move |py, _| {
        let made = before::decode(py, &same.bytes, &same.offsets)?;
        PyList::new(py, made).map(|made| drop(black_box(made)))
    });
    let peer =
        timed(move |py, _| array.call_method0(py, "to_pylist").map(|made| drop(black_box(made))));
    let case = |variant: &str, work| Case::new(variant, workload, list.len(), work).on_one_thread();
    Ok([case("fast", fast), case("before:call-a-string", before), case("peer:pyarrow", peer)])
}

/// Serves the driver.
#[pyfunction(name = "serve")]
fn serve_lesson(
    module: &Bound<'_, PyAny>,
    rows: usize,
    _slow: usize,
    _data: PathBuf,
) -> PyResult<()> {
    let py = module.py();
    let rows = rows.min(2_000_000);
    let columns = PyModule::from_code(py, COLUMNS, c"columns.py", c"columns")?;
    let to_arrow = columns.getattr("to_arrow")?;
    let made = columns.getattr("make")?.call1((rows,))?;
    let mut cases = Vec::new();
    for item in made.call_method0("items")?.try_iter()? {
        let (name, list): (String, Bound<'_, PyList>) = item?.extract()?;
        // Strings that are ASCII keep nothing; of the others a call leaves the UTF-8 beside each, so
        // the first call and those after it are different things, and there are fewer rows of these.
        let first = !matches!(name.as_str(), "ascii" | "shuffled");
        let rows = if first { rows >> 2 } else { rows };
        let list = list.get_slice(0, rows);
        let case = |variant: &str, work: Work| Case::new(variant, &name, rows, work);
        let column: Column = Arc::new(list.iter().map(Bound::unbind).collect());
        cases.push(case("fast", bare(column)));
        let in_place = list.clone().unbind();
        let work = timed(move |py, _| {
            let list = in_place.bind(py);
            for from in (0..list.len()).step_by(BLOCK) {
                let block = from..list.len().min(from + BLOCK);
                black_box(after::encode_list(list, block, Surrogates::Refuse)?);
            }
            Ok(())
        });
        cases.push(case("fast:list", work).on_one_thread());
        // The same strings as objects of their own, whose UTF-8 nobody has asked for. They lie in
        // memory as they were made, which a shuffled column must not; ASCII needs none.
        let (copies, own) = (columns.getattr("copies")?.unbind(), list.clone().unbind());
        let (copies, own) = (Arc::new(copies), Arc::new(own));
        let fresh = move |py: Python<'_>| -> PyResult<Py<PyList>> {
            Ok(copies.bind(py).call1((&*own,))?.cast_into::<PyList>()?.unbind())
        };
        let before =
            |list: &Bound<'_, PyList>| before::encode(list).map(|made| drop(black_box(made)));
        let arrow = Arc::new(to_arrow.clone().unbind());
        let arrow = move |list: &Bound<'_, PyList>| {
            arrow.bind(list.py()).call1((list,)).map(|made| drop(black_box(made)))
        };
        if first {
            let again = on_list(fresh(py)?, arrow.clone());
            cases.push(
                case("before:call-a-string", on_fresh(fresh.clone(), before)).on_one_thread(),
            );
            cases.push(case("peer:pyarrow", on_fresh(fresh, arrow)).on_one_thread());
            cases.push(case("peer:pyarrow-again", again).on_one_thread());
        } else {
            let own = || list.clone().unbind();
            cases.push(case("before:call-a-string", on_list(own(), before)).on_one_thread());
            cases.push(case("peer:pyarrow", on_list(own(), arrow)).on_one_thread());
        }
        cases.extend(back(&columns, &format!("{name}-back"), &list.get_slice(0, rows >> 2))?);
    }
    serve(py, &cases, module)
}

/// Adds the lesson's bench to its submodule.
pub fn register(lesson: &Bound<'_, PyModule>) -> PyResult<()> {
    lesson.add_function(wrap_pyfunction!(serve_lesson, lesson)?)
}
