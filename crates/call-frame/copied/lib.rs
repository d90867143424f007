//! The pattern alone, outside the workspace: see `cargo xtask test copies`.

mod after;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod copied {
    use super::*;

    #[pyfunction]
    #[pyo3(signature = (function, *arguments))]
    fn call<'py>(
        function: &Bound<'py, PyAny>,
        arguments: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut frame = after::Frame::new(function.py(), arguments.len())?;
        frame.call(function, |index| Ok(arguments[index].clone()))
    }

    #[pyfunction]
    fn call2<'py>(
        function: &Bound<'py, PyAny>,
        a: Bound<'py, PyAny>,
        b: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        after::call(function, [a, b])
    }
}
