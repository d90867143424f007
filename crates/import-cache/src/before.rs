//! Before: the two forms that people have.

use std::cell::UnsafeCell;
use std::sync::OnceLock;

use pyo3::prelude::*;

fn import(py: Python<'_>, module: &str, name: &str) -> PyResult<Py<PyAny>> {
    Ok(py.import(module)?.getattr(name)?.unbind())
}

/// As it was under the GIL: a cell that is empty until somebody has imported.
///
/// Thread-safety: none, whatever `Sync` says below.
pub struct Plain {
    module: String,
    name: String,
    object: UnsafeCell<Option<Py<PyAny>>>,
}

// The lie that makes it compile. Under the GIL it was true enough: two threads could both import, but
// never be inside `get` at the same time. On the free-threaded build nothing orders them.
// SAFETY: there is none; this is the fault of the lesson.
unsafe impl Sync for Plain {}

// ANCHOR: plain
impl Plain {
    pub fn new(module: String, name: String) -> Self {
        Self { module, name, object: UnsafeCell::new(None) }
    }

    pub fn get(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        // SAFETY: there is none: another thread may be writing (see `Sync` above).
        if let Some(object) = unsafe { &*self.object.get() } {
            return Ok(object.clone_ref(py));
        }
        // Runs Python: on either build another thread can come here meanwhile.
        let object = import(py, &self.module, &self.name)?;
        // SAFETY: there is none, as above.
        unsafe { *self.object.get() = Some(object.clone_ref(py)) };
        Ok(object)
    }
}
// ANCHOR_END: plain

/// The first repair that comes to mind, and the compiler is content with it.
///
/// Thread-safety: no race, but whoever comes second blocks attached.
pub struct AttachedOnce {
    module: String,
    name: String,
    object: OnceLock<Py<PyAny>>,
}

// ANCHOR: once
impl AttachedOnce {
    pub fn new(module: String, name: String) -> Self {
        Self { module, name, object: OnceLock::new() }
    }

    pub fn get(&self, py: Python<'_>) -> Py<PyAny> {
        let object = self.object.get_or_init(|| {
            import(py, &self.module, &self.name).expect("a failed import cannot be reported here")
        });
        object.clone_ref(py)
    }
}
// ANCHOR_END: once
