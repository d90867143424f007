//! What this lesson times: a look-up that finds the object there.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::atomic::{AtomicPtr, Ordering};

use lesson_kit::bench::{Case, attached_threads, serve};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::after::Imported;

static DATE: Imported = Imported::new("datetime", "date");
static ONCE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static PLAIN: AtomicPtr<ffi::PyObject> = AtomicPtr::new(std::ptr::null_mut());

/// A look-up as code makes it that the compiler cannot see through. Inlined into the loop, it would
/// take one cycle, which is what the loop's own counter takes.
type LookUp = fn(Python<'_>) -> *mut ffi::PyObject;

fn case(variant: &str, rows: usize, look_up: LookUp) -> Case {
    // `rows` look-ups in all, shared out among the threads.
    let work = Box::new(move |py: Python<'_>, threads: usize, iterations: u64| {
        attached_threads(py, threads, move |py| {
            for _ in 0..iterations * (rows / threads) as u64 {
                black_box(black_box(look_up)(py));
            }
        })
    });
    Case::new(variant, "hits", rows, work)
}

/// Serves the driver.
#[pyfunction(name = "serve")]
fn serve_lesson(
    module: &Bound<'_, PyAny>,
    rows: usize,
    slow: usize,
    _data: PathBuf,
) -> PyResult<()> {
    let py = module.py();
    PLAIN.store(DATE.get(py)?.to_owned().into_ptr(), Ordering::Relaxed);
    ONCE.get_or_try_init(py, || DATE.get(py).map(|date| date.to_owned().unbind()))?;
    let rows = rows * 2;
    let cases = [
        case("before:import-each-time", slow, |py| {
            let date = py.import("datetime").and_then(|module| module.getattr("date"));
            date.expect("it was imported before").as_ptr()
        }),
        case("cached", rows, |py| DATE.get(py).expect("it is there").as_ptr()),
        case("PyOnceLock", rows, |py| {
            // Its form that can import, as `cached` can; `get` alone would leave the slow path out.
            let date = ONCE.get_or_try_init(py, || DATE.get(py).map(|d| d.to_owned().unbind()));
            date.expect("it is there").as_ptr()
        }),
        case("limit:relaxed-load", rows, |py| {
            // With the same slow path behind the branch, so that the branch alone is compared.
            match PLAIN.load(Ordering::Relaxed) {
                object if object.is_null() => DATE.get(py).expect("it is there").as_ptr(),
                object => object,
            }
        }),
    ];
    serve(py, &cases, module)
}

/// Adds the lesson's bench to its submodule.
pub fn register(lesson: &Bound<'_, PyModule>) -> PyResult<()> {
    lesson.add_function(wrap_pyfunction!(serve_lesson, lesson)?)
}
