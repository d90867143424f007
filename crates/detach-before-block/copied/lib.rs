//! The pattern alone, outside the workspace: see `cargo xtask test copies`. Built in debug mode, in
//! which the checked lock speaks.

#[allow(dead_code)]
mod after;
mod checked;

use std::sync::{Arc, Barrier, Mutex};

use pyo3::prelude::*;

static CHECKED: checked::CheckedMutex<()> = checked::CheckedMutex::new("the lock", ());
static PLAIN: Mutex<()> = Mutex::new(());

#[pymodule(gil_used = false)]
mod copied {
    use super::*;

    /// Takes the plain lock detached while another thread has it and runs Python.
    #[pyfunction]
    fn wait(py: Python<'_>, python: Py<PyAny>) {
        let inside = Arc::new(Barrier::new(2));
        let entered = inside.clone();
        let owner = std::thread::spawn(move || {
            Python::attach(|py| {
                let _guard = PLAIN.lock().unwrap();
                entered.wait();
                python.call0(py).map(drop).unwrap();
            });
        });
        py.detach(|| inside.wait());
        after::lock(py, &PLAIN);
        after::join(py, owner);
    }

    /// Blocks on the checked lock attached, and detached.
    #[pyfunction]
    fn block(py: Python<'_>, detached: bool) {
        let (inside, done) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let (entered, left) = (inside.clone(), done.clone());
        let holder = std::thread::Builder::new().name("holder".into()).spawn(move || {
            let _guard = CHECKED.lock();
            entered.wait();
            left.wait();
        });
        py.detach(|| inside.wait());
        if detached {
            // Given back while this thread waits for it, detached.
            let waiter = std::thread::spawn(|| drop(CHECKED.lock()));
            while checked::Table.to_string().is_empty() {
                std::thread::yield_now();
            }
            assert!(checked::Table.to_string().ends_with("detached, waits for the lock\n"));
            py.detach(|| done.wait());
            after::join(py, waiter);
            py.detach(|| holder.unwrap().join()).unwrap();
        } else {
            let told = std::panic::catch_unwind(|| drop(CHECKED.lock()));
            py.detach(|| done.wait());
            py.detach(|| holder.unwrap().join()).unwrap();
            if let Err(panic) = told {
                std::panic::resume_unwind(panic);
            }
        }
    }
}
