//! The lesson as Python sees it: `ungil._ungil.engine_singleton`.

use pyo3::prelude::*;

use crate::after::Singleton;
use crate::before;
use crate::engine::Engine;

static ENGINE: Singleton<Engine> = Singleton::new();

/// Before: calls the function on the engine's thread, waiting attached.
#[pyfunction]
fn before_run(function: Py<PyAny>) -> PyResult<Py<PyAny>> {
    before::run(function)
}

/// After: the same, waiting detached.
#[pyfunction]
fn after_run(py: Python<'_>, function: Py<PyAny>) -> PyResult<Py<PyAny>> {
    ENGINE.with(py, Engine::start, |engine| {
        engine.run(move || Python::attach(|py| function.call0(py)))
    })?
}

/// Adds the lesson's submodule.
pub fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "engine_singleton")?;
    module.add_function(wrap_pyfunction!(before_run, &module)?)?;
    module.add_function(wrap_pyfunction!(after_run, &module)?)?;
    parent.add_submodule(&module)
}
