//! Locks, atomics, cells and threads: loom's under `--cfg loom`, std's otherwise.
//!
//! [`Once`] and [`OnceLock`] are ours under loom, which has neither; so is [`RwLock`], whose `try_*`
//! fail where loom's block, and whose methods give guards and not results. [`UnsafeCell`] has loom's
//! closures (`with`, `with_mut`) on both sides, since loom must see where an access begins and ends.
//!
//! Thread-safety of each type is that of its namesake in std.

#[cfg(not(loom))]
use std::sync::{PoisonError, TryLockError};

#[cfg(loom)]
pub use loom::{
    cell::UnsafeCell,
    sync::{Arc, Condvar, Mutex, MutexGuard, atomic, mpsc},
    thread,
};

#[cfg(not(loom))]
pub use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, Once, OnceLock, atomic, mpsc},
    thread,
};

#[cfg(loom)]
pub use crate::once::{Once, OnceLock};

#[cfg(loom)]
pub use crate::lock::RwLock;

/// std's `RwLock` without poisoning, as the models' is.
#[cfg(not(loom))]
#[derive(Debug, Default)]
pub struct RwLock<T>(std::sync::RwLock<T>);

#[cfg(not(loom))]
impl<T> RwLock<T> {
    pub const fn new(value: T) -> Self {
        Self(std::sync::RwLock::new(value))
    }
    /// Blocks until no writer has it.
    pub fn read(&self) -> std::sync::RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
    /// `None` if a writer has it.
    pub fn try_read(&self) -> Option<std::sync::RwLockReadGuard<'_, T>> {
        match self.0.try_read() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
    /// Blocks until nobody has it.
    pub fn write(&self) -> std::sync::RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
    /// `None` if anybody has it.
    pub fn try_write(&self) -> Option<std::sync::RwLockWriteGuard<'_, T>> {
        match self.0.try_write() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// std's `UnsafeCell` with loom's closures.
#[cfg(not(loom))]
#[derive(Debug, Default)]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }
    /// Reads through a pointer that is valid during the closure.
    #[inline(always)]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }
    /// Writes through a pointer that is valid during the closure.
    #[inline(always)]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}
