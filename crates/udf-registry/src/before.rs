//! Before: the two forms that people have.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use pyo3::prelude::*;

type Functions<T> = RwLock<HashMap<String, Arc<T>>>;

/// Looks, then acts.
///
/// Thread-safety: no data race, and a wrong answer: two threads are told that they were the first.
pub struct CheckThenAct<T>(Functions<T>);

// ANCHOR: check
impl<T> CheckThenAct<T> {
    pub fn new() -> Self {
        Self(RwLock::new(HashMap::new()))
    }

    /// Whether this call registered the name.
    pub fn add(&self, name: &str, build: impl FnOnce() -> PyResult<T>) -> PyResult<bool> {
        if self.0.read().unwrap_or_else(PoisonError::into_inner).contains_key(name) {
            return Ok(false);
        }
        let function = Arc::new(build()?);
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(name.into(), function);
        Ok(true)
    }
}
// ANCHOR_END: check

/// One lock around all of it.
///
/// Thread-safety: no race, but `build` runs Python under the lock, and others wait for it attached.
pub struct UnderLock<T>(Functions<T>);

// ANCHOR: under
impl<T> UnderLock<T> {
    pub fn new() -> Self {
        Self(RwLock::new(HashMap::new()))
    }

    /// Whether this call registered the name.
    pub fn add(&self, name: &str, build: impl FnOnce() -> PyResult<T>) -> PyResult<bool> {
        let mut functions = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if functions.contains_key(name) {
            return Ok(false);
        }
        functions.insert(name.into(), Arc::new(build()?));
        Ok(true)
    }
}
// ANCHOR_END: under

impl<T> Default for CheckThenAct<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Default for UnderLock<T> {
    fn default() -> Self {
        Self::new()
    }
}
