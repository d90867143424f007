//! The pattern alone, outside the workspace: see `cargo xtask test copies`.

mod after;

use std::sync::Arc;

use pyo3::prelude::*;

#[pyclass(frozen)]
struct Pool(Arc<after::Pool>);

#[pymethods]
impl Pool {
    #[new]
    fn new(py: Python<'_>, threads: usize) -> PyResult<Self> {
        after::Pool::new(py, threads).map(Self)
    }
    fn run(&self, py: Python<'_>, tasks: usize, function: Py<PyAny>) -> PyResult<()> {
        self.0.run(py, tasks, move |task| {
            Python::attach(|py| function.call1(py, (task,)).map(drop))
        })
    }
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.close(py)
    }
}

#[pymodule(gil_used = false)]
mod copied {
    #[pymodule_export]
    use super::Pool;
}
