//! The lesson as Python sees it: `ungil._ungil.gil_declaration`, and two modules of their own that the
//! same library holds, since only an import can turn the GIL on.

use pyo3::prelude::*;

use crate::{after, before};

pub use crate::after::rust_declared;

/// A module that does not say that it can run without the GIL: PyO3's default before 0.28.
#[pymodule(gil_used = true)]
pub fn rust_silent(_: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}

/// Before: so many calls more; gives the number so far.
#[pyfunction]
fn before_count(times: u32) -> u64 {
    (0..times).fold(0, |_, _| before::count())
}

/// After: the same.
#[pyfunction]
fn after_count(times: u32) -> u64 {
    (0..times).fold(0, |_, _| after::count())
}

/// Adds the lesson's submodule.
pub fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "gil_declaration")?;
    module.add_function(wrap_pyfunction!(before_count, &module)?)?;
    module.add_function(wrap_pyfunction!(after_count, &module)?)?;
    parent.add_submodule(&module)
}
