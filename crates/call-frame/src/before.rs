//! Before: arguments in a tuple.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

// ANCHOR: tuple
/// A tuple for the row, freed after the call.
pub fn with_tuple<'py>(
    function: &Bound<'py, PyAny>,
    a: Bound<'py, PyAny>,
    b: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let arguments = PyTuple::new(py, [a, b])?;
    // SAFETY: attached, on both builds; both pointers are bound references.
    unsafe {
        let result = ffi::PyObject_CallObject(function.as_ptr(), arguments.as_ptr());
        Bound::from_owned_ptr_or_err(py, result)
    }
}
// ANCHOR_END: tuple

// ANCHOR: unpacked
/// `function(*arguments)`, as binding generators spell it: a list, a tuple of it, and a dict.
pub fn unpacked<'py>(
    function: &Bound<'py, PyAny>,
    a: Bound<'py, PyAny>,
    b: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let list = PyList::new(py, [a, b])?;
    function.call(list.to_tuple(), Some(&PyDict::new(py)))
}
// ANCHOR_END: unpacked

// ANCHOR: kept
/// The tuples of a whole block first, then the calls.
pub fn kept<'py>(
    function: &Bound<'py, PyAny>,
    rows: impl Iterator<Item = PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)>>,
    mut each: impl FnMut(Bound<'py, PyAny>) -> PyResult<()>,
) -> PyResult<()> {
    let py = function.py();
    let tuples: Vec<Bound<'py, PyTuple>> =
        rows.map(|row| row.and_then(|(a, b)| PyTuple::new(py, [a, b]))).collect::<PyResult<_>>()?;
    for arguments in tuples {
        each(function.call1(arguments)?)?;
    }
    Ok(())
}
// ANCHOR_END: kept
