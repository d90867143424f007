//! The commonest call, unrolled: a few numbers of one type, none of them null.
//!
//! The frame is an array on the stack and the types are known to the compiler, so a row costs what it
//! costs in a hand-written C loop. Any other shape goes through [`super::frame`].

use pyo3::ffi;
use pyo3::prelude::*;

use super::failure::Failure;

/// A number that becomes a Python object without a look at its type.
pub trait Number: Copy {
    /// A new reference, or null with Python's exception set.
    ///
    /// # Safety
    /// The thread is attached.
    unsafe fn boxed(self) -> *mut ffi::PyObject;
}

impl Number for i64 {
    #[inline(always)]
    unsafe fn boxed(self) -> *mut ffi::PyObject {
        // SAFETY: attached, as the trait demands.
        unsafe { ffi::PyLong_FromLongLong(self) }
    }
}

impl Number for f64 {
    #[inline(always)]
    unsafe fn boxed(self) -> *mut ffi::PyObject {
        // SAFETY: attached, as the trait demands.
        unsafe { ffi::PyFloat_FromDouble(self) }
    }
}

/// Arguments that a frame on the stack has room for.
const MOST: usize = 3;

// ANCHOR: call
/// Calls `function` with `values`.
#[inline(always)]
pub(super) fn call<'py, T: Number, const N: usize>(
    function: &Bound<'py, PyAny>,
    values: [T; N],
) -> Result<Bound<'py, PyAny>, Failure<'py>> {
    const { assert!(N <= MOST) };
    // Slot 0 belongs to the callee (PY_VECTORCALL_ARGUMENTS_OFFSET).
    let mut slots = [std::ptr::null_mut(); MOST + 1];
    // SAFETY: `function` is bound, so this thread is attached, on both builds. Each slot holds a
    // reference that is owned here, is alive during the call and is given up once, below.
    unsafe {
        let mut made = 0;
        while made < N {
            slots[made + 1] = values[made].boxed();
            if slots[made + 1].is_null() {
                break;
            }
            made += 1;
        }
        let result = if made == N {
            ffi::PyObject_Vectorcall(
                function.as_ptr(),
                slots.as_mut_ptr().add(1),
                N | ffi::PY_VECTORCALL_ARGUMENTS_OFFSET,
                std::ptr::null_mut(),
            )
        } else {
            std::ptr::null_mut()
        };
        for slot in &slots[1..=made] {
            ffi::Py_DECREF(*slot);
        }
        match Bound::from_owned_ptr_or_opt(function.py(), result) {
            Some(value) => Ok(value),
            None if made == N => Err(Failure::Raised),
            None => Err(Failure::Argument(made)),
        }
    }
}
// ANCHOR_END: call
