//! Functions by name, for all engines of the process.
//!
//! Rules: no Python code runs under the lock, so a thread may wait for it while attached; what is
//! taken out is dropped after the lock is released, since dropping a function may run Python.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use engine::ScalarFunction;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

type Functions = HashMap<String, Arc<dyn ScalarFunction>>;

static FUNCTIONS: RwLock<Option<Functions>> = RwLock::new(None);

/// Names that SQL gives another meaning.
const RESERVED: [&str; 4] = ["count", "max", "min", "sum"];

/// Puts a function under its name. Call it attached: a function that is replaced is dropped here.
///
/// # Errors
/// `ValueError` for a name that SQL cannot call, and for one that is taken, unless `replace`.
pub fn register_function(function: Arc<dyn ScalarFunction>, replace: bool) -> PyResult<()> {
    let name = function.name().to_owned();
    let mut letters = name.chars();
    let identifier = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !identifier {
        return Err(PyValueError::new_err(format!(
            "{name:?} cannot be called in SQL; give the function a name of letters, digits and _"
        )));
    }
    if RESERVED.contains(&name.to_lowercase().as_str()) {
        return Err(PyValueError::new_err(format!("{name} is an aggregate of the engine")));
    }
    let replaced = {
        let mut functions = FUNCTIONS.write().unwrap_or_else(PoisonError::into_inner);
        let functions = functions.get_or_insert_default();
        if !replace && functions.contains_key(&name) {
            // Leaves the lock before `function` is dropped: the caller's argument outlives it.
            Err(PyValueError::new_err(format!(
                "a function {name:?} exists; drop_function(\"{name}\") first, or pass replace=True"
            )))
        } else {
            Ok(functions.insert(name, function.clone()))
        }
    };
    replaced.map(drop)
}

/// Takes a function out; call it attached. Says whether there was one.
pub fn drop_function(name: &str) -> bool {
    let removed = FUNCTIONS
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .as_mut()
        .and_then(|functions| functions.remove(name));
    removed.is_some()
}

/// The function of this name, kept alive for as long as the caller holds it.
pub fn function(name: &str) -> Option<Arc<dyn ScalarFunction>> {
    FUNCTIONS.read().unwrap_or_else(PoisonError::into_inner).as_ref()?.get(name).cloned()
}
