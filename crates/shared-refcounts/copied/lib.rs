//! The pattern alone, outside the workspace: see `cargo xtask test copies`.

mod after;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod copied {
    use super::*;

    #[pyfunction]
    fn share(callable: &Bound<'_, PyAny>) -> PyResult<usize> {
        after::share(callable)
    }

    #[pyfunction]
    fn scaled(
        py: Python<'_>,
        function: Bound<'_, PyAny>,
        rate: f64,
        values: Vec<f64>,
    ) -> PyResult<Vec<f64>> {
        let mut out = Vec::new();
        after::Scaled::new(function, rate)?.block(py, &values, &mut out)?;
        Ok(out)
    }
}
