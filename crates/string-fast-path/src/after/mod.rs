//! After: a block of strings in one call, on any thread.
//!
//! Copy this folder and `build.rs`. It needs pyo3 and a C compiler.

mod refused;
mod sys;

use std::ops::Range;

use pyo3::exceptions::{PyIndexError, PyOverflowError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::PyList;

pub use refused::Refused;

/// What a lone surrogate becomes: half of a pair, which Python's `str` can hold and UTF-8 cannot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Surrogates {
    /// The block is refused and the row named.
    Refuse,
    /// U+FFFD, as `errors="replace"` of a decoder.
    Replace,
}

/// UTF-8 with offsets, as Arrow's `LargeUtf8` has it. Thread-safety: immutable.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Strings {
    /// One more than there are rows, in bytes; the first is 0.
    pub offsets: Vec<i64>,
    /// The text of all rows.
    pub bytes: Vec<u8>,
    /// Bit `i` (least significant first) is 0 for `None`; absent if there is none.
    pub validity: Option<Vec<u8>>,
}

// ANCHOR: encode
/// Encodes a block. Any thread may, attached or not: the references are owned, and nothing of a string
/// that is read here changes during its life.
///
/// `attached` says that the caller is: on the GIL-enabled build only then is the UTF-8 that CPython may
/// keep beside a string looked at, since there the GIL alone orders that pointer.
///
/// # Errors
/// At the first row that cannot be encoded.
pub fn encode(
    objects: &[Py<PyAny>],
    surrogates: Surrogates,
    attached: Option<Python<'_>>,
) -> Result<Strings, Refused> {
    // SAFETY: `Py` is a transparent pointer to a live object, to which each of these owns a reference.
    unsafe { sys::encode(objects.as_ptr().cast(), objects.len(), surrogates, attached.is_some()) }
}

/// Encodes the rows of a list without taking references: while its critical section is held no other
/// thread can take an object out of it, and nothing here runs Python or detaches.
///
/// # Errors
/// As [`encode`], as an exception; `IndexError` for rows that the list does not have.
pub fn encode_list(
    list: &Bound<'_, PyList>,
    rows: Range<usize>,
    surrogates: Surrogates,
) -> PyResult<Strings> {
    let refused = with_critical_section(list, || {
        // SAFETY: attached. On the free-threaded build every writer of the list takes the section
        // that is held; on the GIL-enabled build the GIL is. So the length, the array and the list's
        // references to its items stay as they are until the closure ends.
        unsafe {
            let object = &*list.as_ptr().cast::<ffi::PyListObject>();
            if rows.end > list.len() || rows.start > rows.end {
                return Ok(Err(format!("rows {rows:?} of a list of {}", list.len())));
            }
            match sys::encode(object.ob_item.add(rows.start), rows.len(), surrogates, true) {
                Ok(strings) => Ok(Ok(strings)),
                Err(refused) => {
                    let (Refused::NotAString(row) | Refused::Surrogate(row)) = refused;
                    let item = *object.ob_item.add(rows.start + row);
                    // Kept, for the message: that runs Python, after the section.
                    Err((refused, row, Bound::from_borrowed_ptr(list.py(), item).unbind()))
                }
            }
        }
    });
    match refused {
        Ok(strings) => strings.map_err(PyIndexError::new_err),
        Err((refused, row, value)) => {
            let at = match refused {
                Refused::NotAString(_) => Refused::NotAString(0),
                Refused::Surrogate(_) => Refused::Surrogate(0),
            };
            Err(at.into_err(list.py(), &[value], rows.start + row))
        }
    }
}
// ANCHOR_END: encode

impl Strings {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Offsets of 32 bits, as Arrow's `Utf8` wants them.
    ///
    /// # Errors
    /// `OverflowError` if the text is longer than 2 GiB; it names the first row that ends beyond.
    pub fn small_offsets(&self) -> PyResult<Vec<i32>> {
        let small = |(row, end): (usize, &i64)| {
            i32::try_from(*end).map_err(|_| {
                PyOverflowError::new_err(format!(
                    "row {} ends at byte {end}, beyond the 2 GiB of 32-bit offsets; use smaller \
                     blocks or 64-bit offsets",
                    row.saturating_sub(1)
                ))
            })
        };
        self.offsets.iter().enumerate().map(small).collect()
    }

    // ANCHOR: decode
    /// Makes the Python objects again: a `str` for each row, `None` where it is null.
    ///
    /// # Errors
    /// `MemoryError`; `UnicodeDecodeError` for bytes that were not made by [`encode`].
    pub fn decode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        sys::decode(py, &self.offsets, &self.bytes, self.validity.as_deref())
    }
    // ANCHOR_END: decode
}
