//! Before: references that nobody owns.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The value of an object that is an int; anything else counts as 0.
///
/// # Safety
/// Attached, and `object` is alive: the faults of this lesson are that it may not be.
unsafe fn value(object: *mut ffi::PyObject) -> i64 {
    // SAFETY: as the caller promises.
    unsafe {
        let value = ffi::PyLong_AsLongLong(object);
        if value == -1 {
            ffi::PyErr_Clear();
        }
        value
    }
}

// ANCHOR: list
/// The sum of a list's items: asked for its length once, and the items of the block borrowed before
/// the first is read, as engines that convert a vector at a time do.
pub fn sum_list(list: &Bound<'_, PyList>) -> i64 {
    let length = list.len() as isize;
    // SAFETY: there is none; this is the fault. The list may have become shorter, and whoever takes an
    // item out of it frees it before or while it is read here.
    unsafe {
        let item = |index| ffi::PyList_GET_ITEM(list.as_ptr(), index);
        let block: Vec<_> = (0..length).map(item).collect();
        let mut sum = 0;
        for item in block {
            ffi::Py_INCREF(item);
            sum += value(item);
            ffi::Py_DECREF(item);
        }
        sum
    }
}
// ANCHOR_END: list

/// The value behind a key, borrowed, so many times.
pub fn sum_dict(dict: &Bound<'_, PyDict>, key: &Bound<'_, PyAny>, times: usize) -> i64 {
    let mut sum = 0;
    for _ in 0..times {
        // SAFETY: there is none: the value may be replaced and freed before the INCREF.
        unsafe {
            let item = ffi::PyDict_GetItemWithError(dict.as_ptr(), key.as_ptr());
            if !item.is_null() {
                ffi::Py_INCREF(item);
                sum += value(item);
                ffi::Py_DECREF(item);
            }
        }
    }
    sum
}

/// The sum of a dictionary's values, walked with PyDict_Next.
pub fn walk_dict(dict: &Bound<'_, PyDict>) -> i64 {
    let (mut position, mut sum) = (0, 0);
    let (mut key, mut item) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: there is none: without the dictionary's critical section its table may be replaced and
    // freed between two steps.
    unsafe {
        while ffi::PyDict_Next(dict.as_ptr(), &mut position, &mut key, &mut item) != 0 {
            ffi::Py_INCREF(item);
            sum += value(item);
            ffi::Py_DECREF(item);
        }
    }
    sum
}
