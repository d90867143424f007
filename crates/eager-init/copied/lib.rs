//! The pattern alone, outside the workspace: see `cargo xtask test copies`.

mod after;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod copied {
    use super::*;

    #[pyfunction]
    fn null_rows(objects: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
        let nulls = after::Nulls::resolve(objects.py())?;
        after::null_rows(&nulls, objects, 2, 3)
    }
}
