//! The pattern alone, outside the workspace: see `cargo xtask test copies`.

mod after;

use std::sync::Mutex;

use pyo3::prelude::*;

static ENGINE: after::Singleton<Mutex<u64>> = after::Singleton::new();

#[pymodule(gil_used = false)]
mod copied {
    use super::*;

    /// Calls back into Python on a thread of the "engine", while its lock is held.
    #[pyfunction]
    fn query(py: Python<'_>, function: Py<PyAny>) -> PyResult<u64> {
        ENGINE.with(py, || Mutex::new(0), |queries| {
            let mut queries = queries.lock().unwrap();
            *queries += 1;
            let call = || Python::attach(|py| function.call0(py).map(drop));
            std::thread::scope(|scope| scope.spawn(call).join().unwrap())?;
            Ok(*queries)
        })?
    }
}
