//! `Once` and `OnceLock`, which loom lacks, and their detach-aware forms.

use crate::interp::Python;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Condvar, Mutex, UnsafeCell};
use crate::trace;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Running,
    Done,
}

/// `std::sync::Once` and `std::call_once`: whoever comes while it runs blocks until it is done.
///
/// As with `std::call_once`, and unlike Rust's `Once`, an initialiser that fails leaves it new, and
/// the next thread that comes tries again ([`Once::try_call_once`]).
///
/// Thread-safety: internally synchronised. An initialiser that enters its own once is a deadlock.
pub struct Once {
    state: Mutex<State>,
    over: Condvar,
    done: AtomicBool,
}

impl Once {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let (state, over) = (Mutex::new(State::New), Condvar::new());
        Self { state, over, done: AtomicBool::new(false) }
    }

    /// Whether it is done; if so, what the initialiser did can be seen.
    pub fn is_completed(&self) -> bool {
        // Acquire: pairs with the Release in try_call_once.
        self.done.load(Ordering::Acquire)
    }

    /// Runs `f` unless that was done; blocks while another thread runs its own.
    pub fn call_once(&self, f: impl FnOnce()) {
        let _: Result<(), ()> = self.try_call_once(|| {
            f();
            Ok(())
        });
    }

    /// As [`Once::call_once`] with an initialiser that can fail.
    ///
    /// # Errors
    /// What `f` returned; the once is then new.
    pub fn try_call_once<E>(&self, f: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        if self.is_completed() {
            return Ok(());
        }
        let mut state = self.state.lock().expect("a model that panicked is over");
        if *state == State::Running {
            trace::waits("the once");
            while *state == State::Running {
                state = self.over.wait(state).expect("as above");
            }
            trace::goes_on();
        }
        if *state == State::Done {
            return Ok(());
        }
        *state = State::Running;
        trace::step("begins the once");
        drop(state);
        let result = f();
        if result.is_ok() {
            // Release: pairs with the Acquire in is_completed. Before the state: whoever finds the
            // state done may ask is_completed.
            self.done.store(true, Ordering::Release);
        }
        *self.state.lock().expect("as above") =
            if result.is_ok() { State::Done } else { State::New };
        trace::step(if result.is_ok() { "ends the once" } else { "leaves the once new" });
        self.over.notify_all();
        result
    }
}

/// The detach-aware form, as PyO3's `OnceExt`.
pub trait OnceExt {
    /// Detaches before it blocks; `f` runs attached.
    fn call_once_py_attached(&self, py: &Python<'_>, f: impl FnOnce(&Python<'_>));
}

impl OnceExt for Once {
    fn call_once_py_attached(&self, py: &Python<'_>, f: impl FnOnce(&Python<'_>)) {
        if self.is_completed() {
            return;
        }
        py.detach(|| {
            self.call_once(|| {
                // A new attach inside, so that the once is entered detached and `f` runs attached.
                // Refused by an interpreter that shuts down: the once then stays without its value.
                let _ = py.interp().attach(f);
            });
        });
    }
}

/// `std::sync::OnceLock`. Thread-safety: as [`Once`].
pub struct OnceLock<T> {
    once: Once,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value is written once, by the initialiser, before `done` is stored with Release, and
// read only after `done` was loaded with Acquire.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}
// SAFETY: it owns its value.
unsafe impl<T: Send> Send for OnceLock<T> {}

impl<T: Clone> OnceLock<T> {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self { once: Once::new(), value: UnsafeCell::new(None) }
    }

    /// A copy of the value, if there is one. (std gives a reference; loom cannot watch one.)
    pub fn get(&self) -> Option<T> {
        // SAFETY: written before `is_completed` became true, and never after.
        self.once.is_completed().then(|| self.value.with(|value| unsafe { (*value).clone() }))?
    }

    /// The value; the first caller makes it, and others block meanwhile.
    pub fn get_or_init(&self, f: impl FnOnce() -> T) -> T {
        self.once.call_once(|| self.put(f()));
        self.get().expect("the once is done")
    }

    /// As PyO3's `OnceLockExt`: detaches before it blocks; `f` runs attached.
    pub fn get_or_init_py_attached(&self, py: &Python<'_>, f: impl FnOnce(&Python<'_>) -> T) -> T {
        self.once.call_once_py_attached(py, |py| self.put(f(py)));
        self.get().expect("the once is done")
    }

    fn put(&self, value: T) {
        // SAFETY: inside the once: no other thread reads or writes.
        self.value.with_mut(|slot| unsafe { *slot = Some(value) });
    }
}
