//! What this lesson times: a look-up that finds the object there.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::atomic::{AtomicPtr, Ordering};

use lesson_kit::bench::{Case, attached_threads, serve};
use lesson_kit::protocol::CaseInfo;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyAny;

use crate::after::Imported;

static DATE: Imported = Imported::new("datetime", "date");
static ONCE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static PLAIN: AtomicPtr<pyo3::ffi::PyObject> = AtomicPtr::new(std::ptr::null_mut());

fn case<F>(variant: &str, rows: usize, look_up: F) -> Case
where
    F: Fn(Python<'_>) -> *mut pyo3::ffi::PyObject + Copy + Send + Sync + 'static,
{
    let info = CaseInfo {
        variant: variant.into(),
        workload: "hits".into(),
        rows,
        slow: false,
        threaded: true,
    };
    // `rows` look-ups in all, shared out among the threads.
    let work = Box::new(move |py: Python<'_>, threads: usize, iterations: u64| {
        attached_threads(py, threads, move |py| {
            for _ in 0..iterations * (rows / threads) as u64 {
                black_box(look_up(py));
            }
        })
    });
    Case { info, work }
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
    let rows = rows * 16;
    let cases = [
        case("before:import-each-time", slow, |py| {
            let date = py.import("datetime").and_then(|module| module.getattr("date"));
            date.expect("it was imported before").as_ptr()
        }),
        case("cached", rows, |py| DATE.get(py).expect("it is there").as_ptr()),
        case("PyOnceLock", rows, |py| ONCE.get(py).expect("it is there").as_ptr()),
        case("limit:relaxed-load", rows, |_| {
            let object = PLAIN.load(Ordering::Relaxed);
            assert!(!object.is_null());
            object
        }),
    ];
    serve(py, &cases, module)
}

/// Adds the lesson's bench to its submodule.
pub fn register(lesson: &Bound<'_, PyModule>) -> PyResult<()> {
    lesson.add_function(wrap_pyfunction!(serve_lesson, lesson)?)
}
