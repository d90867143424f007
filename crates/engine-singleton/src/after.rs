//! After: a thing of which the process has one, made once and never waited for while attached.
//!
//! Copy this file. It needs pyo3 alone.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// An engine, or whatever has threads of its own. Put it into a `static`.
///
/// Thread-safety: internally synchronised, on both builds. No thread is attached while it waits here.
pub struct Singleton<E> {
    engine: OnceLock<E>,
    /// The process that began to make it; 0 before.
    owner: AtomicU32,
}

// ANCHOR: singleton
impl<E: Send + Sync> Singleton<E> {
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self { engine: OnceLock::new(), owner: AtomicU32::new(0) }
    }

    /// Runs `work` with the engine, which `make` makes if it is not there. Both run detached: attach
    /// inside where they need Python.
    ///
    /// # Errors
    /// `RuntimeError` in a process that was forked from the engine's.
    pub fn with<R: Send>(
        &self,
        py: Python<'_>,
        make: impl FnOnce() -> E + Send,
        work: impl FnOnce(&E) -> R + Send,
    ) -> PyResult<R> {
        let me = std::process::id();
        // Before the once is touched: a child forked while its parent was making the engine would
        // wait for a thread that it does not have. Relaxed: the number is compared with one's own,
        // and nothing is read through it.
        let owner = self.owner.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed);
        if owner.is_err_and(|owner| owner != me) {
            return Err(PyRuntimeError::new_err(
                "the engine was started before this process was forked, and its threads did not \
                 come along; start processes with the method \"spawn\" or \"forkserver\"",
            ));
        }
        // Detached for the once as well as for the work: whoever comes second waits for the first.
        Ok(py.detach(|| work(self.engine.get_or_init(make))))
    }
}
// ANCHOR_END: singleton
