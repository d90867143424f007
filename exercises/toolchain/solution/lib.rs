use pyo3::prelude::*;

// SOLUTION declaration
#[pymodule(gil_used = false)]
// STARTER
// #[pymodule(gil_used = true)]
// END
mod exercise {
    use super::*;

    /// Whether the GIL is on in this interpreter, now.
    #[pyfunction]
    fn gil_is_on(py: Python<'_>) -> PyResult<bool> {
        // SOLUTION answer
        py.import("sys")?.call_method0("_is_gil_enabled")?.extract()
        // STARTER
        // let _ = py;
        // Ok(true)
        // END
    }
}
