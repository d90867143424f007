//! After: no Python runs under the lock.
//!
//! Copy this file. It needs pyo3 alone.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, PoisonError, RwLock};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Functions by name. `T` is what a look-up gives: something that holds a `Py<PyAny>`, usually.
///
/// Thread-safety: internally synchronised, on both builds. Every method may be called attached: the
/// lock is held for a few instructions and never while Python runs, so whoever has it comes to the
/// end of them without attaching, detaching or stopping.
pub struct Registry<T> {
    functions: RwLock<HashMap<String, Arc<T>>>,
}

// ANCHOR: registry
impl<T> Registry<T> {
    pub fn new() -> Self {
        Self { functions: RwLock::new(HashMap::new()) }
    }

    /// The function of this name. A query keeps what it found, whatever becomes of the name.
    pub fn find(&self, name: &str) -> Option<Arc<T>> {
        self.functions.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Registers what `build` makes, which may run any Python.
    ///
    /// # Errors
    /// `ValueError` if the name is taken, and whatever `build` raises. Nothing is registered then.
    pub fn add(
        &self,
        py: Python<'_>,
        name: &str,
        build: impl FnOnce(Python<'_>) -> PyResult<T>,
    ) -> PyResult<Arc<T>> {
        // Cheap, and the commonest refusal: nothing was built for nothing.
        if self.find(name).is_some() {
            return Err(taken(name));
        }
        // No lock is held: this runs Python.
        let function = Arc::new(build(py)?);
        let mut functions = self.functions.write().unwrap_or_else(PoisonError::into_inner);
        // Again: another thread may have come first meanwhile.
        match functions.entry(name.to_owned()) {
            Entry::Vacant(free) => Ok(free.insert(function).clone()),
            Entry::Occupied(_) => {
                // Before `function` is dropped, which may run Python.
                drop(functions);
                Err(taken(name))
            }
        }
    }

    /// Takes a name out. The last owner of the function drops it, attached and with no lock held:
    /// the caller here, or the query that still runs it.
    pub fn remove(&self, _py: Python<'_>, name: &str) -> Option<Arc<T>> {
        self.functions.write().unwrap_or_else(PoisonError::into_inner).remove(name)
    }
}
// ANCHOR_END: registry

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Self::new()
    }
}

fn taken(name: &str) -> PyErr {
    PyValueError::new_err(format!("a function {name:?} exists; remove it first"))
}
