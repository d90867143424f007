//! After: arguments in a frame on the stack.
//!
//! Copy this file. It needs pyo3 alone.

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Arguments that a frame has room for.
pub const MOST: usize = 15;

// ANCHOR: call
/// Calls `function` with as many arguments as the compiler knows of.
///
/// PyO3's `function.call1((a, b))` does the same for Rust tuples; this one does not convert.
///
/// # Errors
/// What the function raises.
#[inline(always)]
pub fn call<'py, const N: usize>(
    function: &Bound<'py, PyAny>,
    arguments: [Bound<'py, PyAny>; N],
) -> PyResult<Bound<'py, PyAny>> {
    const { assert!(N <= MOST) };
    // Slot 0 belongs to the callee (PY_VECTORCALL_ARGUMENTS_OFFSET): a bound method puts its `self`
    // there instead of copying the arguments.
    let mut slots = [std::ptr::null_mut(); MOST + 1];
    for (slot, argument) in slots[1..].iter_mut().zip(&arguments) {
        *slot = argument.as_ptr();
    }
    // SAFETY: attached, on both builds; `arguments` owns what the slots point to until after the
    // call, so no other thread can free them; the callee may write to slot 0.
    unsafe { vectorcall(function, &mut slots, N) }
}
// ANCHOR_END: call

/// # Safety
/// `slots[1..=count]` are live references for the whole call.
#[inline(always)]
unsafe fn vectorcall<'py>(
    function: &Bound<'py, PyAny>,
    slots: &mut [*mut ffi::PyObject; MOST + 1],
    count: usize,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: as the caller promises; attached, since `function` is bound.
    unsafe {
        let result = ffi::PyObject_Vectorcall(
            function.as_ptr(),
            slots.as_mut_ptr().add(1),
            count | ffi::PY_VECTORCALL_ARGUMENTS_OFFSET,
            std::ptr::null_mut(),
        );
        Bound::from_owned_ptr_or_err(function.py(), result)
    }
}

// ANCHOR: frame
/// The same for a number of arguments that is known only when the query is: filled and emptied for
/// each row, never given away.
///
/// Thread-safety: lives on one attached thread. It must be local to the block: as a member of the
/// function's wrapper two threads would fill it at once.
pub struct Frame<'py> {
    slots: [*mut ffi::PyObject; MOST + 1],
    arguments: Vec<Bound<'py, PyAny>>,
    wanted: usize,
}

impl<'py> Frame<'py> {
    /// # Errors
    /// `TypeError` for more than [`MOST`] arguments.
    pub fn new(_py: Python<'py>, arguments: usize) -> PyResult<Self> {
        if arguments > MOST {
            let text = format!("{arguments} arguments; a call can have {MOST}");
            return Err(PyTypeError::new_err(text));
        }
        let slots = [std::ptr::null_mut(); MOST + 1];
        Ok(Self { slots, arguments: Vec::with_capacity(arguments), wanted: arguments })
    }

    /// One row: `argument(i)` for each argument, then the call.
    ///
    /// # Errors
    /// Of `argument`, in which case the function is not called; what the function raises.
    #[inline(always)]
    pub fn call(
        &mut self,
        function: &Bound<'py, PyAny>,
        mut argument: impl FnMut(usize) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // What an earlier row left behind, if its caller unwound.
        self.arguments.clear();
        for index in 0..self.wanted {
            let object = argument(index)?;
            self.slots[index + 1] = object.as_ptr();
            self.arguments.push(object);
        }
        // SAFETY: attached, on both builds; `self.arguments` owns what the slots point to.
        let result = unsafe { vectorcall(function, &mut self.slots, self.wanted) };
        self.arguments.clear();
        result
    }
}
// ANCHOR_END: frame
