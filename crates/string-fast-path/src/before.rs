//! Before: a call for each string.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

// ANCHOR: before
/// The UTF-8 of every string and the offsets; null for `None`.
///
/// # Errors
/// `TypeError` for what is no string, `UnicodeEncodeError` for a lone surrogate: neither names the row.
pub fn encode(list: &Bound<'_, PyList>) -> PyResult<(Vec<u8>, Vec<i64>)> {
    let mut bytes = Vec::new();
    let mut offsets = vec![0];
    for object in list.iter() {
        if !object.is_none() {
            // PyUnicode_AsUTF8AndSize: encodes into a buffer that the string keeps until it dies.
            bytes.extend_from_slice(object.cast::<PyString>()?.to_str()?.as_bytes());
        }
        offsets.push(bytes.len() as i64);
    }
    Ok((bytes, offsets))
}

/// And back: PyUnicode_FromStringAndSize, which looks for the widest character of each.
pub fn decode<'py>(
    py: Python<'py>,
    bytes: &[u8],
    offsets: &[i64],
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let text = |ends: &[i64]| {
        let text = &bytes[ends[0] as usize..ends[1] as usize];
        PyString::from_bytes(py, text).map(Bound::into_any)
    };
    offsets.windows(2).map(text).collect()
}
// ANCHOR_END: before
