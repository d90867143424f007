//! Four ways to wait for a thread that runs Python, and what that thread does, in the modelled
//! interpreter.
//!
//! `hands_over`: the owner's Python gives the GIL up and asks for nothing. `collects`: it asks for a
//! stop-the-world and never gives the GIL up before.

use interp_model::sync::mpsc::channel;
use interp_model::sync::{Arc, Once};
use interp_model::{Build, Interp, Lock, OnceExt, Python, explore_bounded, spawn, trace};

type Owner = fn(&Python<'_>);

pub const MODELS: &[(&str, fn(Build))] = &[
    ("once_hands_over", |build| once(build, hands_over, false)),
    ("once_collects", |build| once(build, collects, false)),
    ("once", |build| once(build, both, true)),
    ("lock_hands_over", |build| lock(build, hands_over, false)),
    ("lock_collects", |build| lock(build, collects, false)),
    ("lock", |build| lock(build, both, true)),
    ("channel_hands_over", |build| channelled(build, hands_over, false)),
    ("channel_collects", |build| channelled(build, collects, false)),
    ("channel", |build| channelled(build, both, true)),
    ("join_hands_over", |build| joined(build, hands_over, false)),
    ("join_collects", |build| joined(build, collects, false)),
    ("join", |build| joined(build, both, true)),
    ("mutant_two_locks_crossed", crossed),
];

fn hands_over(py: &Python<'_>) {
    py.run_python();
}

fn collects(py: &Python<'_>) {
    py.stop_the_world(|| ());
}

fn both(py: &Python<'_>) {
    py.run_python();
    py.stop_the_world(|| ());
}

fn once(build: Build, owner: Owner, detached: bool) {
    explore_bounded(3, move || {
        let (interp, once) = (Interp::new(build), Arc::new(Once::new()));
        let (other, shared) = (interp.clone(), once.clone());
        let thread = spawn("owner", move || {
            let own = |py: &Python<'_>| {
                if detached {
                    shared.call_once_py_attached(py, owner);
                } else {
                    shared.call_once(|| owner(py));
                }
            };
            other.attach(own).unwrap();
        });
        let wait = |py: &Python<'_>| {
            if detached {
                once.call_once_py_attached(py, |_| ());
            } else {
                once.call_once(|| ());
            }
        };
        interp.attach(wait).unwrap();
        thread.join().unwrap();
    });
}

fn lock(build: Build, owner: Owner, detached: bool) {
    explore_bounded(3, move || {
        let (interp, lock) = (Interp::new(build), Arc::new(Lock::new("the lock", ())));
        let (other, shared) = (interp.clone(), lock.clone());
        let take = move |lock: &Lock<()>, py: &Python<'_>, work: Owner| {
            let guard = if detached { lock.lock_py_attached(py) } else { lock.lock() };
            work(py);
            drop(guard);
        };
        let thread = spawn("owner", move || other.attach(|py| take(&shared, py, owner)).unwrap());
        interp.attach(|py| take(&lock, py, |_| ())).unwrap();
        thread.join().unwrap();
    });
}

fn channelled(build: Build, owner: Owner, detached: bool) {
    explore_bounded(3, move || {
        let interp = Interp::new(build);
        let (sender, receiver) = channel();
        let other = interp.clone();
        let thread = spawn("owner", move || {
            other.attach(owner).unwrap();
            sender.send(()).unwrap();
        });
        let receive = || {
            trace::waits("the message");
            receiver.recv().unwrap();
            trace::goes_on();
        };
        interp.attach(|py| if detached { py.detach(receive) } else { receive() }).unwrap();
        thread.join().unwrap();
    });
}

fn joined(build: Build, owner: Owner, detached: bool) {
    explore_bounded(3, move || {
        let interp = Interp::new(build);
        let other = interp.clone();
        interp
            .attach(|py| {
                let thread = spawn("owner", move || other.attach(owner).unwrap());
                let join = || {
                    trace::waits("the owner to end");
                    thread.join().unwrap();
                    trace::goes_on();
                };
                if detached { py.detach(join) } else { join() }
            })
            .unwrap();
    });
}

/// `lock_py_attached` holds the guard while it attaches again: two of them, crossed, are a deadlock
/// like any other.
fn crossed(build: Build) {
    explore_bounded(2, move || {
        let interp = Interp::new(build);
        let locks = Arc::new([Lock::new("lock 1", ()), Lock::new("lock 2", ())]);
        let take = |locks: &[Lock<()>; 2], py: &Python<'_>, first: usize| {
            let _one = locks[first].lock_py_attached(py);
            let _other = locks[1 - first].lock_py_attached(py);
        };
        let (other, shared) = (interp.clone(), locks.clone());
        let thread = spawn("B", move || other.attach(|py| take(&shared, py, 1)).unwrap());
        interp.attach(|py| take(&locks, py, 0)).unwrap();
        thread.join().unwrap();
    });
}
