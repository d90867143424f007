//! The calls of strings.c.

use std::ffi::c_int;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::{Refused, Strings, Surrogates};

unsafe extern "C" {
    fn ungil_strings_encode(
        objects: *const *mut ffi::PyObject,
        rows: i64,
        row: *mut i64,
        offsets: *mut i64,
        validity: *mut u8,
        nulls: *mut i64,
        out: *mut u8,
        capacity: i64,
        replace: c_int,
        cached: c_int,
        needed: *mut i64,
    ) -> c_int;
    fn ungil_strings_decode(
        offsets: *const i64,
        bytes: *const u8,
        validity: *const u8,
        rows: i64,
        objects: *mut *mut ffi::PyObject,
    ) -> i64;
}

/// # Safety
/// `objects` points to `rows` live objects, to each of which somebody owns a reference throughout.
pub unsafe fn encode(
    objects: *const *mut ffi::PyObject,
    rows: usize,
    surrogates: Surrogates,
    attached: bool,
) -> Result<Strings, Refused> {
    let mut strings = Strings {
        // Not zeroed: strings.c writes the offset behind each row before it counts the row.
        offsets: Vec::with_capacity(rows + 1),
        // A guess for short texts; strings.c says when it is too small.
        bytes: Vec::with_capacity(rows * 16),
        validity: Some(vec![u8::MAX; rows.div_ceil(8)]),
    };
    strings.offsets.push(0);
    // Without a GIL CPython publishes the cached UTF-8 with a release store, for whoever looks; with
    // one, a thread must be attached to look.
    let cached = attached || cfg!(Py_GIL_DISABLED);
    let (mut row, mut nulls, mut needed) = (0_i64, 0_i64, 0_i64);
    loop {
        // SAFETY: the objects live, as the caller promises, and their characters are immutable on
        // both builds; the buffers have the sizes that are given; `row` is at most `rows`.
        let why = unsafe {
            ungil_strings_encode(
                objects,
                rows as i64,
                &mut row,
                strings.offsets.as_mut_ptr(),
                strings.validity.as_mut().expect("made above").as_mut_ptr(),
                &mut nulls,
                strings.bytes.as_mut_ptr(),
                strings.bytes.capacity() as i64,
                c_int::from(surrogates == Surrogates::Replace),
                c_int::from(cached),
                &mut needed,
            )
        };
        let at = row as usize;
        // SAFETY: strings.c has written the offsets of so many rows, and the last says how many bytes;
        // there was room for both.
        let used = unsafe {
            strings.offsets.set_len(at + 1);
            let used = strings.offsets[at] as usize;
            strings.bytes.set_len(used);
            used
        };
        match why {
            0 => break,
            1 => strings.bytes.reserve((needed as usize).max(used)),
            2 => return Err(Refused::NotAString(at)),
            _ => return Err(Refused::Surrogate(at)),
        }
    }
    if nulls == 0 {
        strings.validity = None;
    }
    Ok(strings)
}

/// A list of an object for each row.
pub fn decode<'py>(
    py: Python<'py>,
    offsets: &[i64],
    bytes: &[u8],
    validity: Option<&[u8]>,
) -> PyResult<Bound<'py, PyList>> {
    let rows = offsets.len().saturating_sub(1);
    let inside = offsets.windows(2).all(|pair| 0 <= pair[0] && pair[0] <= pair[1])
        && offsets.last().is_none_or(|end| *end as usize <= bytes.len())
        && validity.is_none_or(|bits| bits.len() * 8 >= rows);
    assert!(inside, "offsets go forward and stay inside the bytes");
    // SAFETY: attached. Nobody else has the list: its items, null at first, are written in place, and
    // those that are still null when it is dropped are passed over, as they are by the collector. The
    // offsets of all rows and the bytes they name were checked above.
    let (list, done) = unsafe {
        let list = Bound::from_owned_ptr_or_err(py, ffi::PyList_New(rows as isize))?;
        let items = (*list.as_ptr().cast::<ffi::PyListObject>()).ob_item;
        let bits = validity.map_or(std::ptr::null(), <[u8]>::as_ptr);
        let done = ungil_strings_decode(offsets.as_ptr(), bytes.as_ptr(), bits, rows as i64, items);
        (list.cast_into_unchecked(), done as usize)
    };
    if done < rows { Err(PyErr::fetch(py)) } else { Ok(list) }
}
