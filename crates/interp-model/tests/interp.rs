//! What the modelled interpreter promises, on both builds.
#![cfg(loom)]

use std::sync::atomic::{AtomicUsize, Ordering};

use interp_model::sync::{Arc, Once, OnceLock, UnsafeCell};
use interp_model::{Build, Finalizing, Interp, OnceExt, RwLock, explore, explore_bounded, spawn};

/// A loom type that panics when two threads are inside at once.
struct Inside(UnsafeCell<()>);
// SAFETY: the tests are about who enters; loom panics if two do.
unsafe impl Sync for Inside {}

fn both(build: Build, body: fn(Build)) -> std::thread::Result<()> {
    // loom keeps its state by OS thread: one for each exploration.
    std::thread::spawn(move || body(build)).join()
}

#[test]
fn under_the_gil_one_thread_is_attached_at_a_time() {
    fn two(build: Build) {
        explore(move || {
            let (interp, inside) = (Interp::new(build), Arc::new(Inside(UnsafeCell::new(()))));
            let (other, shared) = (interp.clone(), inside.clone());
            let thread = spawn("B", move || other.attach(|_| shared.0.with_mut(|_| ())));
            interp.attach(|_| inside.0.with_mut(|_| ())).unwrap();
            thread.join().unwrap().unwrap();
        });
    }
    both(Build::Gil, two).unwrap();
    // The same two accesses are a race where both are attached: the test above can fail.
    assert!(both(Build::FreeThreaded, two).is_err());
}

#[test]
fn python_code_may_hand_the_gil_over() {
    fn seen_between(build: Build) {
        let seen = std::sync::Arc::new(AtomicUsize::new(0));
        let counted = seen.clone();
        explore(move || {
            let interp = Interp::new(build);
            let between = Arc::new(loom::sync::atomic::AtomicUsize::new(0));
            let (other, shared, seen) = (interp.clone(), between.clone(), counted.clone());
            let thread = spawn("B", move || {
                other.attach(|_| shared.store(1, loom::sync::atomic::Ordering::SeqCst))
            });
            interp
                .attach(|py| {
                    let before = between.load(loom::sync::atomic::Ordering::SeqCst);
                    py.run_python();
                    let after = between.load(loom::sync::atomic::Ordering::SeqCst);
                    seen.fetch_or(1 << (before * 2 + after), Ordering::Relaxed);
                })
                .unwrap();
            thread.join().unwrap().unwrap();
        });
        // Before (3), between (1) and after (0): every place where B can run was tried.
        assert_eq!(seen.load(Ordering::Relaxed), 0b1011);
    }
    both(Build::Gil, seen_between).unwrap();
    both(Build::FreeThreaded, seen_between).unwrap();
}

#[test]
fn while_the_world_is_stopped_nobody_else_is_attached() {
    fn stopped(build: Build) {
        explore_bounded(3, move || {
            let (interp, inside) = (Interp::new(build), Arc::new(Inside(UnsafeCell::new(()))));
            let (other, shared) = (interp.clone(), inside.clone());
            let thread = spawn("B", move || {
                other.attach(|py| {
                    py.run_python();
                    py.stop_the_world(|| shared.0.with_mut(|_| ()));
                })
            });
            interp.attach(|py| py.stop_the_world(|| inside.0.with_mut(|_| ()))).unwrap();
            thread.join().unwrap().unwrap();
        });
    }
    both(Build::Gil, stopped).unwrap();
    both(Build::FreeThreaded, stopped).unwrap();
}

#[test]
fn after_shutdown_nobody_attaches() {
    fn refused(build: Build) {
        explore(move || {
            let interp = Interp::new(build);
            let other = interp.clone();
            let thread = spawn("B", move || other.attach(|_| ()));
            thread.join().unwrap().unwrap();
            interp.attach(|py| py.finalize()).unwrap();
            assert_eq!(interp.attach(|_| ()), Err(Finalizing));
        });
    }
    both(Build::Gil, refused).unwrap();
    both(Build::FreeThreaded, refused).unwrap();
}

#[test]
fn a_once_runs_once_and_a_failure_leaves_it_new() {
    fn once(build: Build) {
        explore_bounded(2, move || {
            let (interp, once) = (Interp::new(build), Arc::new(Once::new()));
            let runs = Arc::new(AtomicUsize::new(0));
            assert_eq!(once.try_call_once(|| Err("not yet")), Err("not yet"));
            assert!(!once.is_completed());
            let (other, shared, count) = (interp.clone(), once.clone(), runs.clone());
            let run = move |interp: &Interp, once: &Once, runs: &AtomicUsize| {
                let count = |_: &interp_model::Python<'_>| {
                    runs.fetch_add(1, Ordering::Relaxed);
                };
                interp.attach(|py| once.call_once_py_attached(py, count)).unwrap();
            };
            let thread = spawn("B", move || run(&other, &shared, &count));
            run(&interp, &once, &runs);
            thread.join().unwrap();
            assert_eq!(runs.load(Ordering::Relaxed), 1);
        });
    }
    both(Build::Gil, once).unwrap();
    both(Build::FreeThreaded, once).unwrap();
}

#[test]
fn a_once_lock_publishes_its_value() {
    fn publish(_: Build) {
        explore_bounded(3, || {
            let cell = Arc::new(OnceLock::new());
            let shared = cell.clone();
            let thread = spawn("B", move || shared.get_or_init(|| 7));
            assert!(matches!(cell.get(), None | Some(7)));
            assert_eq!(cell.get_or_init(|| 7), 7);
            assert_eq!(thread.join().unwrap(), 7);
        });
    }
    both(Build::Gil, publish).unwrap();
}

#[test]
fn readers_share_and_try_fails_where_it_would_block() {
    fn share(_: Build) {
        explore(|| {
            let lock = Arc::new(RwLock::new(0));
            let shared = lock.clone();
            let thread = spawn("B", move || {
                *shared.write() += 1;
            });
            let reader = lock.read();
            assert!(lock.try_write().is_none());
            assert!(lock.try_read().is_some());
            drop(reader);
            let writer = lock.write();
            assert!(lock.try_write().is_none());
            assert!(lock.try_read().is_none());
            // A try that failed has released nothing.
            assert!(lock.try_write().is_none());
            drop(writer);
            thread.join().unwrap();
            assert_eq!(*lock.read(), 1);
        });
    }
    both(Build::Gil, share).unwrap();
}
