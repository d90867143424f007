//! What declaring a module means for its state, in the modelled interpreter.
//!
//! Two threads call the module once each, attached. The count stands for whatever a module keeps.

use interp_model::sync::atomic::{AtomicUsize, Ordering};
use interp_model::sync::{Arc, UnsafeCell};
use interp_model::{Build, Interp, Python, explore, spawn, trace};

pub const MODELS: &[(&str, fn(Build))] = &[
    ("declared_without_audit", |build| calls(build, |_, state| state.plain())),
    ("python_between", |build| calls(build, |py, state| state.plain_with_python(py))),
    ("atomic", |build| calls(build, |_, state| state.atomic())),
    ("mutant_load_and_store", |build| calls(build, |py, state| state.load_and_store(py))),
];

struct State {
    plain: UnsafeCell<usize>,
    atomic: AtomicUsize,
}

// SAFETY: what the models test; loom sees every access.
unsafe impl Sync for State {}

impl State {
    /// Under the GIL every call of the module is one step.
    fn plain(&self) {
        trace::step("counts");
        // SAFETY: loom checks that no other access runs beside it.
        self.plain.with_mut(|count| unsafe { *count += 1 });
    }

    /// A call that runs Python between its read and its write was never one step.
    fn plain_with_python(&self, py: &Python<'_>) {
        // SAFETY: as above.
        let count = self.plain.with(|count| unsafe { *count });
        trace::step("reads the count");
        py.run_python();
        trace::step("writes the count");
        // SAFETY: as above.
        self.plain.with_mut(|slot| unsafe { *slot = count + 1 });
    }

    fn atomic(&self) {
        self.atomic.fetch_add(1, Ordering::Relaxed);
    }

    /// Atomic, and still two steps.
    fn load_and_store(&self, py: &Python<'_>) {
        let count = self.atomic.load(Ordering::Relaxed);
        trace::step("reads the count");
        py.run_python();
        self.atomic.store(count + 1, Ordering::Relaxed);
        trace::step("writes the count");
    }
}

fn calls(build: Build, call: fn(&Python<'_>, &State)) {
    explore(move || {
        let (plain, atomic) = (UnsafeCell::new(0), AtomicUsize::new(0));
        let (interp, state) = (Interp::new(build), Arc::new(State { plain, atomic }));
        let (other, shared) = (interp.clone(), state.clone());
        let thread = spawn("B", move || other.attach(|py| call(py, &shared)));
        interp.attach(|py| call(py, &state)).unwrap();
        thread.join().unwrap().unwrap();
        // SAFETY: the other thread has ended.
        let plain = state.plain.with(|count| unsafe { *count });
        assert_eq!(plain + state.atomic.load(Ordering::Relaxed), 2, "a call was not counted");
    });
}
