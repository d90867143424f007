//! After: deferred reference counts for what a function brings along, and no shared arguments.
//!
//! Copy this file. It needs pyo3 alone, and CPython 3.14 or later.

use std::collections::HashSet;
use std::ffi::c_int;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyTuple};

unsafe extern "C" {
    /// New in CPython 3.14, and not in pyo3-ffi 0.30. Does nothing on the GIL-enabled build.
    fn PyUnstable_Object_EnableDeferredRefcount(object: *mut ffi::PyObject) -> c_int;
}

// ANCHOR: share
/// Gives deferred reference counts to a callable and to the objects that a call of it touches: the
/// function, its closure, what it is bound to, what it wraps. Says how many objects that changed: 0 on
/// the GIL-enabled build, and the second time.
///
/// The price: such an object is freed by the garbage collector alone, never by its last reference.
/// Call it for what is registered once and called for millions of rows.
///
/// Numbers and strings cannot be deferred. A closure over one still counts on it.
///
/// Thread-safety: may run beside calls of the same function.
///
/// # Errors
/// None of its own; what an attribute of an unusual callable raises.
pub fn share(callable: &Bound<'_, PyAny>) -> PyResult<usize> {
    let mut seen = HashSet::new();
    let mut left = vec![(callable.clone(), MOST)];
    let mut changed = 0;
    while let Some((object, depth)) = left.pop() {
        if !seen.insert(object.as_ptr()) {
            continue;
        }
        changed += usize::from(defer(&object));
        if depth > 0 {
            left.extend(behind(&object)?.into_iter().map(|next| (next, depth - 1)));
        }
    }
    Ok(changed)
}
// ANCHOR_END: share

/// A decorated partial of a method is three deep; this is for what goes in circles.
const MOST: usize = 8;

fn defer(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: attached, and `object` is alive. On the free-threaded build the flag is set atomically,
    // so other threads may count on the object meanwhile; on the other the call does nothing. It
    // refuses objects that the collector does not know.
    unsafe { PyUnstable_Object_EnableDeferredRefcount(object.as_ptr()) == 1 }
}

// ANCHOR: behind
/// What a call of `object` counts references on besides itself.
fn behind<'py>(object: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let mut found = Vec::new();
    // A bound method; a decorated function; a partial.
    for name in ["__func__", "__self__", "__wrapped__"] {
        found.extend(object.getattr_opt(name)?);
    }
    if object.is_instance(object.py().import("functools")?.getattr("partial")?.as_ref())? {
        found.push(object.getattr("func")?);
    }
    // A closure: the cells, and what is in them.
    let closure = object.getattr_opt("__closure__")?;
    if let Some(cells) = closure.and_then(|cells| cells.cast_into::<PyTuple>().ok()) {
        for cell in cells {
            // An empty cell raises.
            found.extend(cell.getattr("cell_contents").ok());
            found.push(cell);
        }
    }
    // An object with `__call__`: the function in its class.
    let kind = object.get_type();
    found.extend(kind.getattr_opt("__call__")?.filter(|call| call.is_instance_of::<PyFunction>()));
    Ok(found)
}
// ANCHOR_END: behind

// ANCHOR: scaled
/// A function with one constant argument. The argument is kept as the number that it is, and boxed
/// anew for each block: an object that one thread owns is counted without atomics.
pub struct Scaled {
    pub function: Py<PyAny>,
    pub rate: f64,
}

impl Scaled {
    /// # Errors
    /// Those of [`share`].
    pub fn new(function: Bound<'_, PyAny>, rate: f64) -> PyResult<Self> {
        share(&function)?;
        Ok(Self { function: function.unbind(), rate })
    }

    /// Calls it for each row of a block.
    ///
    /// # Errors
    /// What the function raises.
    pub fn block(&self, py: Python<'_>, rows: &[f64], out: &mut Vec<f64>) -> PyResult<()> {
        let function = self.function.bind(py);
        let rate = self.rate.into_pyobject(py)?;
        for value in rows {
            out.push(function.call1((*value, &rate))?.extract()?);
        }
        Ok(())
    }
}
// ANCHOR_END: scaled
