//! The lesson as Python sees it: `ungil._ungil.attach_once`.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::{after, before};

/// Before: threads that are unknown to Python between two tasks.
#[pyclass(frozen, module = "ungil")]
struct Forgetful(before::Pool);

#[pymethods]
impl Forgetful {
    #[new]
    fn new(threads: usize) -> Self {
        Self(before::Pool::new(threads))
    }
    /// Calls `function(task)` for each task on the pool's threads. Exceptions are printed.
    fn run(&self, py: Python<'_>, tasks: usize, function: Py<PyAny>) {
        self.0.run(py, tasks, move |py, task| {
            if let Err(error) = function.call1(py, (task,)) {
                error.print(py);
            }
        });
    }
    fn close(&self) {
        self.0.close();
    }
}

/// After.
#[pyclass(frozen, module = "ungil")]
struct Pool(Arc<after::Pool>);

#[pymethods]
impl Pool {
    #[new]
    fn new(py: Python<'_>, threads: usize) -> PyResult<Self> {
        after::Pool::new(py, threads).map(Self)
    }
    /// Calls `function(task)` for each task on the pool's threads.
    fn run(&self, py: Python<'_>, tasks: usize, function: Py<PyAny>) -> PyResult<()> {
        self.0
            .run(py, tasks, move |task| Python::attach(|py| function.call1(py, (task,)).map(drop)))
    }
    /// Drops an object on one of the pool's threads, detached: it goes through PyO3's queue.
    fn drop_detached(&self, py: Python<'_>, object: Py<PyAny>) -> PyResult<()> {
        let slot = std::sync::Mutex::new(Some(object));
        self.0.run(py, 1, move |_| {
            drop(slot.lock().expect("no panic").take());
            Ok(())
        })
    }
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.close(py)
    }
}

/// Adds the lesson's submodule.
pub fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "attach_once")?;
    module.add_class::<Forgetful>()?;
    module.add_class::<Pool>()?;
    #[cfg(feature = "bench")]
    crate::bench::register(&module)?;
    parent.add_submodule(&module)
}
