//! What this lesson times: a column of strings, to UTF-8 and back.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use lesson_kit::bench::{Case, Timing, Work, serve};
use lesson_kit::protocol::CaseInfo;
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

fn timed(work: impl Fn(Python<'_>) -> PyResult<()> + Send + Sync + 'static) -> Work {
    Box::new(move |py, _, iterations| {
        let start = Instant::now();
        for _ in 0..iterations {
            work(py)?;
        }
        Ok(Timing { total: start.elapsed(), first_block: None })
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
        // The way back makes an object a row, each time.
        let back_rows = rows >> 2;
        let mut add = |variant: &str, workload: &str, threaded: bool, work: Work| {
            let rows = if workload.ends_with("-back") { back_rows } else { rows };
            let (variant, workload) = (variant.into(), workload.into());
            cases.push(Case {
                info: CaseInfo { variant, workload, rows, slow: false, threaded },
                work,
            });
        };
        let column: Column = Arc::new(list.iter().map(Bound::unbind).collect());
        // The same strings as objects of their own, whose UTF-8 nobody has asked for.
        let (copies, own) = (columns.getattr("copies")?.unbind(), list.clone().unbind());
        let (copies, own) = (Arc::new(copies), Arc::new(own));
        let fresh = move |py: Python<'_>| -> PyResult<Py<PyList>> {
            Ok(copies.bind(py).call1((&*own,))?.cast_into::<PyList>()?.unbind())
        };
        add("fast", &name, true, bare(column));
        let in_place = list.clone().unbind();
        add(
            "fast:list",
            &name,
            false,
            timed(move |py| {
                let list = in_place.bind(py);
                for from in (0..list.len()).step_by(BLOCK) {
                    let block = from..list.len().min(from + BLOCK);
                    black_box(after::encode_list(list, block, Surrogates::Refuse)?);
                }
                Ok(())
            }),
        );
        // Copies lie in memory as they were made, which a shuffled column must not; ASCII needs none.
        let looked_at = |py| if first { fresh(py) } else { Ok(list.clone().unbind()) };
        let (calls, seen) = (fresh.clone(), looked_at(py)?);
        add(
            "before:call-a-string",
            &name,
            false,
            if first {
                on_fresh(calls, |list| before::encode(list).map(|parts| drop(black_box(parts))))
            } else {
                timed(move |py| before::encode(seen.bind(py)).map(|parts| drop(black_box(parts))))
            },
        );
        let (arrow, calls, seen) = (to_arrow.clone().unbind(), fresh.clone(), looked_at(py)?);
        let again =
            move |py: Python<'_>| arrow.call1(py, (&seen,)).map(|array| drop(black_box(array)));
        if first {
            let arrow = to_arrow.clone().unbind();
            add(
                "peer:pyarrow",
                &name,
                false,
                on_fresh(calls, move |list| {
                    arrow.bind(list.py()).call1((list,)).map(|array| drop(black_box(array)))
                }),
            );
            add("peer:pyarrow-again", &name, false, timed(again));
        } else {
            add("peer:pyarrow", &name, false, timed(again));
        }
        // And back.
        let back = format!("{name}-back");
        let list = list.get_slice(0, back_rows);
        let strings = after::encode_list(&list, 0..list.len(), Surrogates::Refuse)?;
        if !strings.decode(py)?.eq(&list)? {
            return Err(PyRuntimeError::new_err(format!("{name} does not come back as it was")));
        }
        let strings: Arc<Strings> = Arc::new(strings);
        let same = strings.clone();
        add(
            "fast",
            &back,
            false,
            timed(move |py| {
                black_box(strings.decode(py)?);
                Ok(())
            }),
        );
        add(
            "before:call-a-string",
            &back,
            false,
            timed(move |py| {
                black_box(PyList::new(py, before::decode(py, &same.bytes, &same.offsets)?)?);
                Ok(())
            }),
        );
        let array = to_arrow.call1((columns.getattr("copies")?.call1((&list,))?,))?.unbind();
        add(
            "peer:pyarrow",
            &back,
            false,
            timed(move |py| {
                black_box(array.call_method0(py, "to_pylist")?);
                Ok(())
            }),
        );
    }
    serve(py, &cases, module)
}

/// Adds the lesson's bench to its submodule.
pub fn register(lesson: &Bound<'_, PyModule>) -> PyResult<()> {
    lesson.add_function(wrap_pyfunction!(serve_lesson, lesson)?)
}
