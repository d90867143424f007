//! The end of the interpreter: queries are stopped before it begins, not met in the middle of it.
//!
//! An engine thread that attaches while the interpreter is being torn down is lost: `try_attach`
//! looks first, but the interpreter may be gone between the look and the attach, and on the
//! GIL-enabled build that is a crash (the lesson's fault `exits_while_a_query_runs` shows it). So the
//! extension asks every query to stop in `atexit`, when threads can still attach, and waits for them.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

struct State {
    queries: usize,
    exiting: bool,
}

// No Python runs under this lock, so a thread may take it while attached.
static STATE: Mutex<State> = Mutex::new(State { queries: 0, exiting: false });
static OVER: Condvar = Condvar::new();

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A query at work; the end of the interpreter waits until it is dropped.
pub struct Active(());

impl Active {
    /// # Errors
    /// `RuntimeError` once the interpreter has begun to exit.
    pub fn start() -> PyResult<Self> {
        let mut state = state();
        if state.exiting {
            return Err(exiting());
        }
        state.queries += 1;
        Ok(Self(()))
    }

    /// Whether this query should stop.
    pub fn exiting(&self) -> bool {
        state().exiting
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        state().queries -= 1;
        OVER.notify_all();
    }
}

pub fn exiting() -> PyErr {
    PyRuntimeError::new_err("the Python interpreter is exiting")
}

/// Called by `atexit`: refuses new queries, and waits for the running ones, detached, since their
/// threads must attach to come to an end.
#[pyfunction]
pub fn shut_down(py: Python<'_>) {
    py.detach(|| {
        let mut guard = state();
        guard.exiting = true;
        while guard.queries > 0 {
            guard = OVER.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    });
}
