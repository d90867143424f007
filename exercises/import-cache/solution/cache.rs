use crate::sync::UnsafeCell;
use crate::sync::atomic::{AtomicBool, Ordering};

/// A value that is written once and read by many.
///
/// Thread-safety: any number of readers, and writers one after another.
pub struct Published<T> {
    ready: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: a reader touches the value only after it saw the flag, and nobody writes after that.
unsafe impl<T: Send + Sync> Sync for Published<T> {}

impl<T: Copy> Published<T> {
    pub fn new(nothing: T) -> Self {
        Self { ready: AtomicBool::new(false), value: UnsafeCell::new(nothing) }
    }

    pub fn get(&self) -> Option<T> {
        // SOLUTION read
        // Acquire: pairs with the Release in `set`.
        if self.ready.load(Ordering::Acquire) {
            // STARTER
            // if self.ready.load(Ordering::Relaxed) {
            // END
            // SAFETY: written before the flag, and never again.
            Some(self.value.with(|value| unsafe { *value }))
        } else {
            None
        }
    }

    /// At most once, by one thread.
    pub fn set(&self, value: T) {
        // SOLUTION write
        // SAFETY: nobody reads before the flag.
        self.value.with_mut(|place| unsafe { *place = value });
        // Release: pairs with the Acquire in `get`.
        self.ready.store(true, Ordering::Release);
        // STARTER
        // // SAFETY: nobody reads before the flag.
        // self.value.with_mut(|place| unsafe { *place = value });
        // self.ready.store(true, Ordering::Relaxed);
        // END
    }
}
