//! The lesson as Python sees it: `ungil._ungil.string_fast_path`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::after::{self, Strings, Surrogates};
use crate::before;

/// `(offsets, bytes, validity)`.
type Parts<'py> = (Vec<i64>, Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>);

fn parts<'py>(py: Python<'py>, strings: Strings) -> Parts<'py> {
    let validity = strings.validity.map(|bits| PyBytes::new(py, &bits));
    (strings.offsets, PyBytes::new(py, &strings.bytes), validity)
}

fn surrogates(name: &str) -> PyResult<Surrogates> {
    match name {
        "refuse" => Ok(Surrogates::Refuse),
        "replace" => Ok(Surrogates::Replace),
        other => Err(PyValueError::new_err(format!("{other:?} is neither refuse nor replace"))),
    }
}

/// Before.
#[pyfunction]
fn before_encode<'py>(list: &Bound<'py, PyList>) -> PyResult<Parts<'py>> {
    let (bytes, offsets) = before::encode(list)?;
    Ok((offsets, PyBytes::new(list.py(), &bytes), None))
}

/// After: `how` is "list" (in place, under its critical section), "owned" (attached), or "bare" (on a
/// thread that Python does not know, while this one is detached).
#[pyfunction]
#[pyo3(signature = (list, how, errors="refuse"))]
fn encode<'py>(list: &Bound<'py, PyList>, how: &str, errors: &str) -> PyResult<Parts<'py>> {
    let py = list.py();
    let choice = surrogates(errors)?;
    let strings = if how == "list" {
        after::encode_list(list, 0..list.len(), choice)?
    } else {
        let owned: Vec<Py<PyAny>> = list.iter().map(Bound::unbind).collect();
        let result = match how {
            "owned" => after::encode(&owned, choice, Some(py)),
            "bare" => py.detach(|| {
                std::thread::scope(|scope| {
                    let bare = scope.spawn(|| after::encode(&owned, choice, None));
                    bare.join().expect("encoding does not panic")
                })
            }),
            other => {
                let text = format!("{other:?} is none of list, owned, bare");
                return Err(PyValueError::new_err(text));
            }
        };
        result.map_err(|refused| refused.into_err(py, &owned, 0))?
    };
    Ok(parts(py, strings))
}

/// After, some rows of a list, in place.
#[pyfunction]
fn encode_rows<'py>(list: &Bound<'py, PyList>, start: usize, end: usize) -> PyResult<Parts<'py>> {
    let strings = after::encode_list(list, start..end, Surrogates::Refuse)?;
    Ok(parts(list.py(), strings))
}

/// Back to objects.
#[pyfunction]
fn decode<'py>(
    py: Python<'py>,
    offsets: Vec<i64>,
    bytes: Vec<u8>,
    validity: Option<Vec<u8>>,
) -> PyResult<Bound<'py, PyList>> {
    Strings { offsets, bytes, validity }.decode(py)
}

/// Bytes of the text, if its offsets fit 32 bits.
#[pyfunction]
fn small_bytes(list: &Bound<'_, PyList>) -> PyResult<i32> {
    let strings = after::encode_list(list, 0..list.len(), Surrogates::Refuse)?;
    Ok(*strings.small_offsets()?.last().unwrap_or(&0))
}

/// Adds the lesson's submodule.
pub fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "string_fast_path")?;
    module.add_function(wrap_pyfunction!(before_encode, &module)?)?;
    module.add_function(wrap_pyfunction!(encode, &module)?)?;
    module.add_function(wrap_pyfunction!(encode_rows, &module)?)?;
    module.add_function(wrap_pyfunction!(decode, &module)?)?;
    module.add_function(wrap_pyfunction!(small_bytes, &module)?)?;
    #[cfg(feature = "bench")]
    crate::bench::register(&module)?;
    parent.add_submodule(&module)
}
