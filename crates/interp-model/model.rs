//! "Model your own": a protocol from outside this repo's lessons. References that are dropped by
//! threads which are not attached are queued, and the next thread that attaches gives them up, as
//! PyO3's reference pool does.
//!
//! What must hold: each reference is given up once, by an attached thread; and after the last thread
//! has attached, none is left.

use interp_model::sync::Arc;
use interp_model::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use interp_model::{Build, Interp, Lock, Python, explore_bounded, spawn, trace};

pub const MODELS: &[(&str, fn(Build))] = &[
    ("decref_while_detached", decref_while_detached),
    ("queue", |build| queue(build, Queue::drain)),
    ("mutant_drained_twice", |build| queue(build, Queue::drain_without_emptying)),
    ("mutant_flag_cleared_last", |build| queue(build, Queue::drain_flag_last)),
    ("mutant_decref_under_lock", |build| queue(build, Queue::drain_under_lock)),
];

// ANCHOR: queue
/// The protocol under test. The real one holds pointers; here a reference is a number.
struct Queue {
    /// Asked at every attach, so it must be cheap: is there anything?
    dirty: AtomicBool,
    pending: Lock<Vec<usize>>,
    /// How often each reference was given up.
    given_up: [AtomicUsize; 2],
}

impl Queue {
    /// Called by a thread that may be detached.
    fn push(&self, reference: usize) {
        self.pending.lock().push(reference);
        // Release: pairs with the swap in `drain`.
        self.dirty.store(true, Ordering::Release);
    }

    /// Called at each attach.
    fn drain(&self, interp: &Interp, py: &Python<'_>) {
        if !self.dirty.swap(false, Ordering::AcqRel) {
            return;
        }
        // Taken out under the lock, given up after it: a finalizer runs Python.
        let taken = std::mem::take(&mut *self.pending.lock());
        for reference in taken {
            self.decref(interp, py, reference);
        }
    }
}
// ANCHOR_END: queue

impl Queue {
    fn new() -> Arc<Self> {
        let (dirty, pending) = (AtomicBool::new(false), Lock::new("the queue's lock", vec![]));
        Arc::new(Self { dirty, pending, given_up: [AtomicUsize::new(0), AtomicUsize::new(0)] })
    }

    fn decref(&self, interp: &Interp, py: &Python<'_>, reference: usize) {
        interp.c_api("Py_DECREF");
        py.run_python();
        py.stop_the_world(|| ());
        self.given_up[reference].fetch_add(1, Ordering::Relaxed);
    }

    fn drain_without_emptying(&self, interp: &Interp, py: &Python<'_>) {
        if self.dirty.load(Ordering::Acquire) {
            let copied = self.pending.lock().clone();
            for reference in copied {
                self.decref(interp, py, reference);
            }
            self.pending.lock().clear();
            self.dirty.store(false, Ordering::Release);
        }
    }

    fn drain_flag_last(&self, interp: &Interp, py: &Python<'_>) {
        if self.dirty.load(Ordering::Acquire) {
            let taken = std::mem::take(&mut *self.pending.lock());
            for reference in taken {
                self.decref(interp, py, reference);
            }
            // What was pushed meanwhile is forgotten.
            self.dirty.store(false, Ordering::Release);
        }
    }

    fn drain_under_lock(&self, interp: &Interp, py: &Python<'_>) {
        if self.dirty.swap(false, Ordering::AcqRel) {
            let mut pending = self.pending.lock();
            while let Some(reference) = pending.pop() {
                self.decref(interp, py, reference);
            }
        }
    }
}

/// Before: a reference is given up wherever its owner happens to be.
fn decref_while_detached(build: Build) {
    explore_bounded(2, move || {
        let interp = Interp::new(build);
        let other = interp.clone();
        let thread = spawn("native", move || other.c_api("Py_DECREF"));
        interp.attach(|py| py.run_python()).unwrap();
        thread.join().unwrap();
    });
}

// ANCHOR: model
/// A native thread drops one reference; a second one attaches, drops another and drains; the main
/// thread drains at the end.
fn queue(build: Build, drain: fn(&Queue, &Interp, &Python<'_>)) {
    explore_bounded(3, move || {
        let (interp, queue) = (Interp::new(build), Queue::new());
        let (other, shared) = (interp.clone(), queue.clone());
        let worker = spawn("worker", move || {
            shared.push(0);
            other.attach(|py| drain(&shared, &other, py)).unwrap();
        });
        interp
            .attach(|py| {
                queue.push(1);
                drain(&queue, &interp, py);
            })
            .unwrap();
        worker.join().unwrap();
        interp.attach(|py| drain(&queue, &interp, py)).unwrap();
        for (reference, count) in queue.given_up.iter().enumerate() {
            let count = count.load(Ordering::Relaxed);
            trace::step(format!("finds that reference {reference} was given up {count} times"));
            assert_eq!(count, 1, "a reference was not given up once");
        }
    });
}
// ANCHOR_END: model
