//! The pattern alone, outside the workspace: see `cargo xtask test copies`.

mod after;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod copied {
    use super::*;

    /// Rows, code points, and rows with an "x".
    #[pyfunction]
    fn look(py: Python<'_>, column: &Bound<'_, PyAny>) -> PyResult<(usize, usize, usize)> {
        let strings = after::Strings::of(column)?;
        let points = strings.scan(py, 2, after::code_points).into_iter().sum();
        let find = |text: &[u8]| text.iter().position(|byte| *byte == b'x');
        let rows = strings.scan(py, 2, |segment| after::containing(segment, &find).len());
        let nulls: usize = strings
            .segments(0..strings.rows())
            .map(|segment| (0..segment.rows()).filter(|row| segment.get(*row).is_none()).count())
            .sum();
        Ok((strings.rows() - nulls, points, rows.into_iter().sum()))
    }
}
