//! Before: looked up when first needed, on a thread that has no thread state.

use std::sync::OnceLock;

use pyo3::ffi;
use pyo3::prelude::*;

static NAT: OnceLock<Py<PyAny>> = OnceLock::new();

// ANCHOR: before
/// Whether an object is null. Called by scan threads.
///
/// Thread-safety: none: the caller must be attached, and a scan thread is not.
pub fn is_null_lazily(object: *const ffi::PyObject) -> bool {
    // The unsafe that makes it compile. "We only look something up", so why attach?
    // SAFETY: there is none; this is the fault of the lesson.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: reading the address of None takes no thread state.
    if std::ptr::eq(object, unsafe { ffi::Py_None() }) {
        return true;
    }
    let nat = NAT.get_or_init(|| {
        py.import("pandas")
            .and_then(|module| module.getattr("NaT"))
            .expect("pandas is there")
            .unbind()
    });
    std::ptr::eq(object, nat.as_ptr())
}
// ANCHOR_END: before
