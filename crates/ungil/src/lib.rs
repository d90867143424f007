//! The extension module: each lesson registers itself; there is no logic here.

use pyo3::prelude::*;

// `gil_used = false` is PyO3's default since 0.28; said here, since it is a promise that somebody
// has to have thought about: all state below is immutable or behind locks that no Python runs under.
#[pymodule(gil_used = false)]
fn _ungil(module: &Bound<'_, PyModule>) -> PyResult<()> {
    engine_python::register(module)?;
    udf_in_process::python::register(module)
}
