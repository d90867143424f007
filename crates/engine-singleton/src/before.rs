//! Before: made at the first query and waited for by the thread that is attached.

use std::sync::OnceLock;

use pyo3::prelude::*;

use crate::engine::Engine;

static ENGINE: OnceLock<Engine> = OnceLock::new();

// ANCHOR: before
/// Calls `function` on the engine's thread, as a query with a user-defined function does.
///
/// Thread-safety: no race. The caller waits attached.
pub fn run(function: Py<PyAny>) -> PyResult<Py<PyAny>> {
    let engine = ENGINE.get_or_init(Engine::start);
    engine.run(move || Python::attach(|py| function.call0(py)))
}
// ANCHOR_END: before
