//! After: the state is synchronised, and the module says that it can run without the GIL.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;

// ANCHOR: after
/// How often the module was called. Thread-safety: internally synchronised.
static CALLS: AtomicU64 = AtomicU64::new(0);

pub fn count() -> u64 {
    // Relaxed: the number orders nothing else.
    CALLS.fetch_add(1, Ordering::Relaxed) + 1
}

/// Said explicitly: PyO3 says it for you since 0.28, so an upgrade declares what nobody audited.
#[pymodule(gil_used = false)]
pub fn rust_declared(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(count_calls, module)?)
}
// ANCHOR_END: after

#[pyfunction]
fn count_calls() -> u64 {
    count()
}
