//! A thread state that outlives one attach.

use std::marker::PhantomData;

use pyo3::ffi;
use pyo3::prelude::*;

/// Keeps the calling thread's thread state from one [`Python::attach`] to the next; the thread is
/// detached meanwhile.
///
/// Without it an attach on a thread that Python does not know makes a thread state, and the detach
/// destroys it. On the free-threaded build destroying is dear: the state's allocator is closed, and
/// closing it looks for memory that dead threads left behind, up to 1024 times over
/// (`_mi_abandoned_collect` in CPython's mimalloc). What a look costs grows with the process.
///
/// Thread-safety: thread-local; made and dropped by the same thread.
pub struct KeptState {
    kept: bool,
    // Neither Send nor Sync: what it counts belongs to the thread.
    _thread: PhantomData<*mut ()>,
}

// ANCHOR: kept
impl KeptState {
    /// Keeps nothing if the interpreter is shutting down.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        // One Ensure without its Release: when `try_attach` ends, the count is at 1, and the thread
        // is detached but keeps its state.
        let kept = Python::try_attach(|_| {
            // SAFETY: attached; the Release is in `drop`.
            unsafe { ffi::PyGILState_Ensure() };
        });
        Self { kept: kept.is_some(), _thread: PhantomData }
    }
}

impl Drop for KeptState {
    fn drop(&mut self) {
        if self.kept {
            // If the interpreter is shutting down, the state is left to it.
            Python::try_attach(|_| {
                // SAFETY: attached, and `new` did not release. The nested Ensure found the thread
                // attached, so its answer was `PyGILState_LOCKED`: this only counts down, and the
                // end of `try_attach`, the last to leave, destroys the state.
                unsafe { ffi::PyGILState_Release(ffi::PyGILState_STATE::PyGILState_LOCKED) };
            });
        }
    }
}
// ANCHOR_END: kept
