//! The pattern alone, outside the workspace: see `cargo xtask test copies`.

mod after;

use pyo3::prelude::*;

static DATE: after::Imported = after::Imported::new("datetime", "date");
static ABSENT: after::Imported = after::Imported::new("no_such_module", "name");

#[pymodule(gil_used = false)]
mod copied {
    use super::*;

    #[pyfunction]
    fn date(py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(DATE.get(py)?.to_owned().unbind())
    }

    #[pyfunction]
    fn absent(py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(ABSENT.get(py)?.to_owned().unbind())
    }
}
