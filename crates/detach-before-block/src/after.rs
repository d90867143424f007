//! After: the same waits, detached.
//!
//! PyO3 has the first three as extension traits; a channel and a join need `detach` around them.

use std::sync::mpsc::Receiver;
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};
use std::thread::JoinHandle;

use pyo3::prelude::*;
use pyo3::sync::{MutexExt, OnceLockExt, RwLockExt};

// ANCHOR: after
/// Waits for the thread that initialises. Detaches before it blocks; the closure runs attached.
pub fn once(py: Python<'_>, cell: &OnceLock<()>) {
    cell.get_or_init_py_attached(py, || ());
}

/// Waits for the thread that has the lock. Tries first; detaches only if it must block. The guard is
/// held while the thread attaches again, so release it before you wait for anything else.
pub fn lock(py: Python<'_>, mutex: &Mutex<()>) {
    drop(mutex.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner));
}

/// The same for readers and writers.
pub fn write(py: Python<'_>, lock: &RwLock<()>) {
    drop(lock.write_py_attached(py).unwrap_or_else(PoisonError::into_inner));
}

/// Waits for the thread that sends.
pub fn receive(py: Python<'_>, channel: Receiver<()>) {
    // By value: a `&Receiver` cannot cross, since it is not Sync.
    py.detach(move || channel.recv()).expect("the owner sends");
}

/// Waits for the thread to end.
pub fn join(py: Python<'_>, thread: JoinHandle<()>) {
    py.detach(|| thread.join()).expect("the owner does not panic");
}
// ANCHOR_END: after
