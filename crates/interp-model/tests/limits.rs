//! What loom does not see or does wrong, as tests that would pass if it did. Ignored; each says which
//! limit it is. Run them with `--ignored` after an update of loom.
#![cfg(loom)]

use loom::sync::atomic::{AtomicUsize, Ordering, fence};
use loom::sync::{Arc, Mutex};
use loom::thread;

#[test]
#[ignore = "limit: loom 0.7.3 blocks a pending try_lock while another thread has the lock"]
fn try_lock_fails_instead_of_blocking() {
    loom::model(|| {
        let lock = Arc::new(Mutex::new(()));
        let seen = Arc::new(AtomicUsize::new(0));
        let (other, flag) = (lock.clone(), seen.clone());
        let thread = thread::spawn(move || {
            let _guard = other.lock().unwrap();
            // Waits for whoever tries: with a try_lock that fails this ends.
            while flag.load(Ordering::Acquire) == 0 {
                thread::yield_now();
            }
        });
        drop(lock.try_lock());
        seen.store(1, Ordering::Release);
        thread.join().unwrap();
    });
}

#[test]
#[ignore = "limit: loom treats SeqCst accesses as AcqRel, so it reports a reordering that cannot be"]
fn two_seqcst_flags_are_not_both_missed() {
    loom::model(|| {
        let flags = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let shared = flags.clone();
        let thread = thread::spawn(move || {
            shared[0].store(1, Ordering::SeqCst);
            shared[1].load(Ordering::SeqCst)
        });
        flags[1].store(1, Ordering::SeqCst);
        let mine = flags[0].load(Ordering::SeqCst);
        assert!(mine == 1 || thread.join().unwrap() == 1);
    });
}

#[test]
#[ignore = "limit: loom does not explore a load that reads a store later in program order (load buffering)"]
fn relaxed_loads_may_be_moved_behind_stores() {
    use std::sync::atomic::AtomicBool;
    let seen = std::sync::Arc::new(AtomicBool::new(false));
    let found = seen.clone();
    loom::model(move || {
        let values = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let shared = values.clone();
        let thread = thread::spawn(move || {
            let read = shared[0].load(Ordering::Relaxed);
            shared[1].store(1, Ordering::Relaxed);
            read
        });
        let read = values[1].load(Ordering::Relaxed);
        values[0].store(1, Ordering::Relaxed);
        if read == 1 && thread.join().unwrap() == 1 {
            found.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    });
    // The memory model allows it and ARM does it.
    assert!(seen.load(std::sync::atomic::Ordering::Relaxed));
}

#[test]
fn fences_are_seen() {
    loom::model(|| {
        let (data, flag) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (value, ready) = (data.clone(), flag.clone());
        let thread = thread::spawn(move || {
            value.store(1, Ordering::Relaxed);
            fence(Ordering::Release);
            ready.store(1, Ordering::Relaxed);
        });
        if flag.load(Ordering::Relaxed) == 1 {
            fence(Ordering::Acquire);
            assert_eq!(data.load(Ordering::Relaxed), 1);
        }
        thread.join().unwrap();
    });
}
