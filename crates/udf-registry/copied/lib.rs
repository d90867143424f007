//! The pattern alone, outside the workspace: see `cargo xtask test copies`.

mod after;

use std::sync::LazyLock;

use pyo3::prelude::*;

static FUNCTIONS: LazyLock<after::Registry<Py<PyAny>>> = LazyLock::new(after::Registry::new);

#[pymodule(gil_used = false)]
mod copied {
    use super::*;

    #[pyfunction]
    fn add(py: Python<'_>, name: &str, make: &Bound<'_, PyAny>) -> PyResult<()> {
        FUNCTIONS.add(py, name, |_| Ok(make.call0()?.unbind())).map(drop)
    }

    #[pyfunction]
    fn find(py: Python<'_>, name: &str) -> Option<Py<PyAny>> {
        FUNCTIONS.find(name).map(|function| function.clone_ref(py))
    }

    #[pyfunction]
    fn remove(py: Python<'_>, name: &str) -> bool {
        FUNCTIONS.remove(py, name).is_some()
    }
}
