//! For debug builds: a lock that panics when one blocks on it while attached, and a table of who
//! waits for what.
//!
//! Copy this file. It needs pyo3 alone, and only to ask whether the thread is attached.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::ThreadId;

use pyo3::ffi;

/// Whether the calling thread is attached.
pub fn is_attached() -> bool {
    // SAFETY: may be called by any thread, attached or not, on both builds.
    unsafe { ffi::PyGILState_Check() == 1 }
}

/// A mutex with a name. Where debug assertions are on, blocking on it while attached is a panic that
/// names it and who has it, in place of a hang that nobody can explain. Taking it while it is free is
/// fine: nobody waits.
///
/// Thread-safety: internally synchronised.
pub struct CheckedMutex<T> {
    name: &'static str,
    mutex: Mutex<T>,
    holder: Mutex<Option<String>>,
}

// ANCHOR: checked
impl<T> CheckedMutex<T> {
    pub const fn new(name: &'static str, value: T) -> Self {
        Self { name, mutex: Mutex::new(value), holder: Mutex::new(None) }
    }

    /// Takes the lock.
    ///
    /// # Panics
    /// In debug builds, if another thread has it and the calling thread is attached.
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let guard = match self.mutex.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                if cfg!(debug_assertions) && is_attached() {
                    let holder = self.holder.lock().unwrap_or_else(PoisonError::into_inner);
                    panic!(
                        "{} would block on {:?} while attached; {} has it. Detach first: \
                         py.detach(..), or MutexExt::lock_py_attached",
                        name(),
                        self.name,
                        holder.as_deref().unwrap_or("another thread")
                    );
                }
                let _waits = waits_for(self.name);
                self.mutex.lock().unwrap_or_else(PoisonError::into_inner)
            }
        };
        if cfg!(debug_assertions) {
            *self.holder.lock().unwrap_or_else(PoisonError::into_inner) = Some(name());
        }
        guard
    }
}
// ANCHOR_END: checked

fn name() -> String {
    let thread = std::thread::current();
    thread.name().map_or_else(|| format!("thread {:?}", thread.id()), str::to_owned)
}

struct Wait {
    thread: String,
    attached: bool,
    what: String,
}

static WAITS: Mutex<BTreeMap<String, Wait>> = Mutex::new(BTreeMap::new());

fn waits() -> MutexGuard<'static, BTreeMap<String, Wait>> {
    WAITS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The calling thread waits until this is dropped. Thread-safety: may be dropped by any thread.
pub struct Waiting(String);

/// Puts the calling thread into the table. No Python runs under its lock.
pub fn waits_for(what: &str) -> Waiting {
    let id: ThreadId = std::thread::current().id();
    let key = format!("{id:?}");
    let wait = Wait { thread: name(), attached: is_attached(), what: what.into() };
    waits().insert(key.clone(), wait);
    Waiting(key)
}

impl Drop for Waiting {
    fn drop(&mut self) {
        waits().remove(&self.0);
    }
}

/// Who waits for what, a line each; for a watchdog, which must not attach to find out.
/// Thread-safety: internally synchronised.
pub struct Table;

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for wait in waits().values() {
            let state = if wait.attached { "attached" } else { "detached" };
            writeln!(f, "{}, {state}, waits for {}", wait.thread, wait.what)?;
        }
        Ok(())
    }
}
