//! After: what scan threads need is resolved while attached; the threads compare addresses.
//!
//! Copy this file. It needs pyo3 alone.

use std::ptr;

use pyo3::ffi;
use pyo3::prelude::*;

/// The objects that mean "no value": `None`, `pandas.NaT`, `pandas.NA`, and a float that is NaN.
///
/// Thread-safety: immutable. [`Nulls::contains`] may be called by any thread, attached or not.
pub struct Nulls {
    nat: Option<Py<PyAny>>,
    na: Option<Py<PyAny>>,
}

// ANCHOR: nulls
impl Nulls {
    /// Resolves them, once, before any scan thread starts. Without pandas there is no `NaT` to find.
    ///
    /// # Errors
    /// What the import of a pandas that is there raises.
    pub fn resolve(py: Python<'_>) -> PyResult<Self> {
        let pandas = match py.import("pandas") {
            Ok(module) => module,
            Err(error) if error.is_instance_of::<pyo3::exceptions::PyModuleNotFoundError>(py) => {
                return Ok(Self { nat: None, na: None });
            }
            Err(error) => return Err(error),
        };
        let object = |name| pandas.getattr(name).map(|object| Some(object.unbind()));
        Ok(Self { nat: object("NaT")?, na: object("NA")? })
    }

    /// Whether the object means "no value".
    ///
    /// # Safety
    /// `object` is alive: somebody owns a reference to it for as long as this runs.
    pub unsafe fn contains(&self, object: *mut ffi::PyObject) -> bool {
        let is = |known: &Option<Py<PyAny>>| {
            known.as_ref().is_some_and(|known| ptr::eq(known.as_ptr(), object))
        };
        // SAFETY: the address of a static object; no thread state is looked at.
        if ptr::eq(object, unsafe { ffi::Py_None() }) || is(&self.nat) || is(&self.na) {
            return true;
        }
        // SAFETY: alive, so its type can be read, on both builds: an object's type is a plain field
        // that only `__class__` assignment changes, and a float cannot be assigned another.
        if unsafe { ffi::PyFloat_CheckExact(object) } == 0 {
            return false;
        }
        // SAFETY: exactly a float, which is immutable: its value is a plain field.
        unsafe { (*object.cast::<ffi::PyFloatObject>()).ob_fval.is_nan() }
    }
}
// ANCHOR_END: nulls

/// The rows of `objects` that are null, found by `threads` threads that never attach, in blocks of
/// `block_rows`.
///
/// # Errors
/// What the iteration over `objects` raises.
// ANCHOR: scan
pub fn null_rows(
    nulls: &Nulls,
    objects: &Bound<'_, PyAny>,
    threads: usize,
    block_rows: usize,
) -> PyResult<Vec<usize>> {
    // Owned references: whatever happens to the column meanwhile, these objects live.
    let owned: Vec<Py<PyAny>> =
        objects.try_iter()?.map(|object| object.map(Bound::unbind)).collect::<PyResult<_>>()?;
    let blocks: Vec<&[Py<PyAny>]> = owned.chunks(block_rows.max(1)).collect();
    let mut found: Vec<Vec<usize>> = objects.py().detach(|| {
        std::thread::scope(|scope| {
            let scan = |thread: usize| {
                let mut rows = Vec::new();
                for (block, objects) in blocks.iter().enumerate().skip(thread).step_by(threads) {
                    for (row, object) in objects.iter().enumerate() {
                        // SAFETY: `owned` holds a reference to it until the scope has ended.
                        if unsafe { nulls.contains(object.as_ptr()) } {
                            rows.push(block * block_rows + row);
                        }
                    }
                }
                rows
            };
            let workers: Vec<_> =
                (0..threads).map(|thread| scope.spawn(move || scan(thread))).collect();
            workers
                .into_iter()
                .map(|worker| worker.join().expect("a scan does not panic"))
                .collect()
        })
    });
    // Attached again: here the references are dropped.
    let mut rows: Vec<usize> = found.drain(..).flatten().collect();
    rows.sort_unstable();
    Ok(rows)
}
// ANCHOR_END: scan
