//! A mutex with a name, which tells its part of the story; and a reader-writer lock with `try_*`.
//!
//! Both are built from a flag under loom's mutex, since loom's own `try_lock` blocks where it should
//! fail (tests/limits.rs).

use std::ops::{Deref, DerefMut};

use crate::interp::Python;
use crate::sync::{Condvar, Mutex, UnsafeCell};
use crate::trace;

/// A native mutex (`std::mutex`, `pthread_mutex_t`, `std::sync::Mutex`): it knows nothing of Python.
///
/// Thread-safety: internally synchronised. Taking it twice in one thread is a deadlock, as in std.
pub struct Lock<T>(RwLock<T>);

/// Unlocks when dropped.
pub struct Guard<'a, T>(WriteGuard<'a, T>);

impl<T> Lock<T> {
    /// `name` as in a sentence: "the registry's lock".
    pub fn new(name: &'static str, value: T) -> Self {
        Self(RwLock::named(name, value))
    }

    /// Blocks until the lock is free, and stays attached if the thread is.
    pub fn lock(&self) -> Guard<'_, T> {
        Guard(self.0.write())
    }

    /// As PyO3's `MutexExt::lock_py_attached`: tries, and otherwise detaches before it blocks. The
    /// guard is held while the thread attaches again.
    pub fn lock_py_attached(&self, py: &Python<'_>) -> Guard<'_, T> {
        self.try_lock().unwrap_or_else(|| py.detach(|| self.lock()))
    }

    /// `None` if another thread has it.
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        self.0.try_write().map(Guard)
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// A native reader-writer lock. Whoever comes first enters first or not: no order is promised, as in
/// std and C++.
///
/// Thread-safety: internally synchronised.
pub struct RwLock<T> {
    name: &'static str,
    users: Mutex<Users>,
    freed: Condvar,
    value: UnsafeCell<T>,
}

struct Users {
    readers: usize,
    writer: bool,
}

// SAFETY: the value is reached through a guard alone, and `users` lets one writer or many readers in;
// its mutex orders each holder before the next.
unsafe impl<T: Send + Sync> Sync for RwLock<T> {}
// SAFETY: it owns its value.
unsafe impl<T: Send> Send for RwLock<T> {}

impl<T> RwLock<T> {
    pub fn new(value: T) -> Self {
        Self::named("the lock", value)
    }

    /// `name` as in a sentence: "the registry's lock".
    pub fn named(name: &'static str, value: T) -> Self {
        let users = Mutex::new(Users { readers: 0, writer: false });
        Self { name, users, freed: Condvar::new(), value: UnsafeCell::new(value) }
    }

    fn enter(&self, exclusive: bool, block: bool) -> bool {
        let mut users = self.users.lock().expect("a model that panicked is over");
        let mut waited = false;
        while users.writer || (exclusive && users.readers > 0) {
            if !block {
                return false;
            }
            if !waited {
                waited = true;
                trace::waits(self.name);
            }
            users = self.freed.wait(users).expect("as above");
        }
        if waited {
            trace::goes_on();
        }
        if exclusive {
            users.writer = true;
        } else {
            users.readers += 1;
        }
        trace::step(format!("takes {}{}", self.name, if exclusive { "" } else { " to read" }));
        true
    }

    fn leave(&self, exclusive: bool) {
        let mut users = self.users.lock().expect("a model that panicked is over");
        if exclusive {
            users.writer = false;
        } else {
            users.readers -= 1;
        }
        drop(users);
        trace::step(format!("gives {} back", self.name));
        self.freed.notify_all();
    }

    /// Blocks until no writer has it.
    pub fn read(&self) -> ReadGuard<'_, T> {
        self.enter(false, true);
        ReadGuard(self)
    }

    /// `None` if a writer has it.
    pub fn try_read(&self) -> Option<ReadGuard<'_, T>> {
        self.enter(false, false).then(|| ReadGuard(self))
    }

    /// Blocks until nobody has it.
    pub fn write(&self) -> WriteGuard<'_, T> {
        self.enter(true, true);
        WriteGuard(self)
    }

    /// `None` if anybody has it.
    pub fn try_write(&self) -> Option<WriteGuard<'_, T>> {
        self.enter(true, false).then(|| WriteGuard(self))
    }

    /// As PyO3's `RwLockExt::read_py_attached`.
    pub fn read_py_attached(&self, py: &Python<'_>) -> ReadGuard<'_, T> {
        self.try_read().unwrap_or_else(|| py.detach(|| self.read()))
    }

    /// As PyO3's `RwLockExt::write_py_attached`.
    pub fn write_py_attached(&self, py: &Python<'_>) -> WriteGuard<'_, T> {
        self.try_write().unwrap_or_else(|| py.detach(|| self.write()))
    }
}

/// Reads; unlocks when dropped.
pub struct ReadGuard<'a, T>(&'a RwLock<T>);

/// Writes; unlocks when dropped.
pub struct WriteGuard<'a, T>(&'a RwLock<T>);

impl<T> Deref for ReadGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: no writer is in while this guard lives.
        self.0.value.with(|value| unsafe { &*value })
    }
}

impl<T> Deref for WriteGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: nobody else is in while this guard lives.
        self.0.value.with(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for WriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        self.0.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T> Drop for ReadGuard<'_, T> {
    fn drop(&mut self) {
        self.0.leave(false);
    }
}

impl<T> Drop for WriteGuard<'_, T> {
    fn drop(&mut self) {
        self.0.leave(true);
    }
}
