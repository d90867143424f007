//! The pattern alone, outside the workspace: see `cargo xtask test copies`.

mod after;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod copied {
    use super::*;

    /// The sum of the values, and how many rows were null.
    #[pyfunction]
    fn total(py: Python<'_>, column: &Bound<'_, PyAny>, threads: usize) -> PyResult<(i64, usize)> {
        let column = after::Snapshot::of(column)?.scan::<i64>(py, threads)?;
        Ok((column.values.iter().sum(), column.valid.iter().filter(|valid| !**valid).count()))
    }

    /// Words and truths, in order.
    #[pyfunction]
    fn words(py: Python<'_>, dict: &Bound<'_, pyo3::types::PyDict>) -> PyResult<(Vec<String>, usize)> {
        let snapshot = after::Snapshot::of_values(dict)?;
        Ok((snapshot.scan::<String>(py, 2)?.values, snapshot.rows()))
    }
}
