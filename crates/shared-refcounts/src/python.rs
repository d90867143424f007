//! The lesson as Python sees it: `ungil._ungil.shared_refcounts`.

use pyo3::prelude::*;

use crate::{after, before};

/// Gives a callable and what is behind it deferred reference counts; how many objects changed.
#[pyfunction]
fn share(callable: &Bound<'_, PyAny>) -> PyResult<usize> {
    after::share(callable)
}

/// `function(value, rate)` for each value, with the rate shared by all threads (`before`) or boxed for
/// the block.
#[pyfunction]
fn scaled(
    py: Python<'_>,
    function: Bound<'_, PyAny>,
    rate: f64,
    values: Vec<f64>,
    before: bool,
) -> PyResult<Vec<f64>> {
    let mut out = Vec::with_capacity(values.len());
    if before {
        let rate = rate.into_pyobject(py)?.into_any().unbind();
        before::Scaled { function: function.unbind(), rate }.block(py, &values, &mut out)?;
    } else {
        after::Scaled::new(function, rate)?.block(py, &values, &mut out)?;
    }
    Ok(out)
}

/// Adds the lesson's submodule.
pub fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "shared_refcounts")?;
    module.add_function(wrap_pyfunction!(share, &module)?)?;
    module.add_function(wrap_pyfunction!(scaled, &module)?)?;
    #[cfg(feature = "bench")]
    crate::bench::register(&module)?;
    parent.add_submodule(&module)
}
