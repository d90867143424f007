//! After: an imported object whose look-up, once it was made, is one load and one branch.
//!
//! Copy this file. It needs pyo3 alone.

use std::borrow::Cow;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::{Borrowed, ffi};

/// `module.name`, imported at the first look-up and kept as long as the process lives.
///
/// ```ignore
/// static DATE: Imported = Imported::new("datetime", "date");
/// let date = DATE.get(py)?;
/// ```
///
/// Thread-safety: internally synchronised, on both builds. No thread is attached while it waits here
/// for another. Put it into a `static`: dropping one forgets its reference.
pub struct Imported {
    module: Cow<'static, str>,
    name: Cow<'static, str>,
    /// Null until it was imported; never changed after that.
    object: AtomicPtr<ffi::PyObject>,
    /// Held by the thread that looks the name up; the others wait for it, detached.
    making: Mutex<()>,
    /// Which thread that is ([`this_thread`]), or 0.
    maker: AtomicUsize,
}

// ANCHOR: get
impl Imported {
    pub const fn new(module: &'static str, name: &'static str) -> Self {
        Self::named(Cow::Borrowed(module), Cow::Borrowed(name))
    }

    /// The object.
    ///
    /// # Errors
    /// What the import raised; nothing is kept then, and the next caller tries again. `RuntimeError`
    /// if making the object asks for the object.
    #[inline]
    pub fn get<'py>(&self, py: Python<'py>) -> PyResult<Borrowed<'_, 'py, PyAny>> {
        // Acquire: pairs with the Release in `import`, so that the object is seen as it was made.
        let object = self.object.load(Ordering::Acquire);
        if object.is_null() {
            return self.import(py);
        }
        // SAFETY: it was published with a reference that is never given up, on both builds.
        Ok(unsafe { Borrowed::from_ptr(py, object) })
    }

    #[cold]
    fn import<'py>(&self, py: Python<'py>) -> PyResult<Borrowed<'_, 'py, PyAny>> {
        // Relaxed: only the thread that stored its own mark can find it here.
        if self.maker.load(Ordering::Relaxed) == this_thread() {
            let (module, name) = (&self.module, &self.name);
            return Err(PyRuntimeError::new_err(format!(
                "{module}.{name} was asked for while it is being made"
            )));
        }
        // With no lock of ours held: the import runs any code, and that code may be waiting in
        // another thread for what we hold. CPython's own import lock lets one thread do the work.
        let module = py.import(&*self.module)?;
        // Tries, and otherwise detaches before it blocks.
        let _making = self.making.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        if self.object.load(Ordering::Relaxed).is_null() {
            self.maker.store(this_thread(), Ordering::Relaxed);
            let found = module.getattr(&*self.name);
            self.maker.store(0, Ordering::Relaxed);
            // Release: pairs with the Acquire in `get`. A failure leaves the null where it is.
            self.object.store(found?.into_ptr(), Ordering::Release);
        }
        // SAFETY: not null any more; as in `get`.
        Ok(unsafe { Borrowed::from_ptr(py, self.object.load(Ordering::Relaxed)) })
    }
}
// ANCHOR_END: get

impl Imported {
    /// As [`Imported::new`], for names that are known at run time.
    pub const fn named(module: Cow<'static, str>, name: Cow<'static, str>) -> Self {
        let object = AtomicPtr::new(null_mut());
        Self { module, name, object, making: Mutex::new(()), maker: AtomicUsize::new(0) }
    }
}

/// A number that no other living thread has, and never 0: where its thread-local lies.
fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}
