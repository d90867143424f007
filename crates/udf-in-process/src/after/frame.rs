//! The argument frame of a vectorcall, reused for every row of a block.

use pyo3::ffi;
use pyo3::prelude::*;

/// Owns the arguments of one call at a time.
///
/// Slot 0 belongs to the callee (`PY_VECTORCALL_ARGUMENTS_OFFSET`): a bound method puts `self` there
/// instead of copying the arguments. Thread-safety: lives on one attached thread.
pub struct Frame<'py> {
    slots: Vec<*mut ffi::PyObject>,
    filled: usize,
    py: Python<'py>,
}

impl<'py> Frame<'py> {
    pub fn new(py: Python<'py>, arguments: usize) -> Self {
        Self { slots: vec![std::ptr::null_mut(); arguments + 1], filled: 0, py }
    }

    /// Takes over a reference as the next argument.
    ///
    /// # Safety
    /// `object` is a live reference, and at most as many are pushed between two calls of `clear` as
    /// the frame was made for.
    #[inline(always)]
    pub unsafe fn push(&mut self, object: *mut ffi::PyObject) {
        debug_assert!(self.filled + 1 < self.slots.len());
        self.filled += 1;
        // SAFETY: the caller pushes at most as many arguments as the frame was made for. (Checked in
        // debug builds; the check is one of the dearer things in a row.)
        unsafe { *self.slots.get_unchecked_mut(self.filled) = object };
    }

    /// Calls with the arguments pushed so far; `None` with Python's exception set.
    #[inline(always)]
    pub fn call(&mut self, function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        // SAFETY: attached, on both builds; slots 1..=filled hold live references that this frame
        // owns, so another thread cannot free them during the call; slot 0 may be written to.
        unsafe {
            let result = ffi::PyObject_Vectorcall(
                function.as_ptr(),
                self.slots.as_mut_ptr().add(1),
                self.filled | ffi::PY_VECTORCALL_ARGUMENTS_OFFSET,
                std::ptr::null_mut(),
            );
            Bound::from_owned_ptr_or_opt(self.py, result)
        }
    }

    /// Drops the arguments; the frame can be filled again.
    #[inline(always)]
    pub fn clear(&mut self) {
        while self.filled > 0 {
            // SAFETY: `filled` counts slots that `push` has written.
            let object = unsafe { *self.slots.get_unchecked(self.filled) };
            // Counted down first: a finalizer that runs in Py_DECREF must not see it here.
            self.filled -= 1;
            // SAFETY: attached; the reference was handed over by `push` and is given up once.
            unsafe { ffi::Py_DECREF(object) };
        }
    }
}

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}
