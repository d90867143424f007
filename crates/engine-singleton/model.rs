//! A query that calls Python back from the engine's thread, in the modelled interpreter.

use interp_model::sync::Arc;
use interp_model::sync::mpsc::channel;
use interp_model::{Build, Interp, Lock, Python, explore, explore_bounded, spawn, trace};

pub const MODELS: &[(&str, fn(Build))] = &[
    ("waits_attached", |build| query(build, false, false)),
    ("waits_attached_collecting", |build| query(build, false, true)),
    ("waits_detached", |build| query(build, true, true)),
    ("made_once", |build| made_once(build, true)),
    ("exit_while_it_runs", exit),
    ("mutant_made_attached", |build| made_once(build, false)),
    ("mutant_attach_regardless", attach_regardless),
];

fn call_back(py: &Python<'_>, collects: bool) {
    py.run_python();
    if collects {
        py.stop_the_world(|| ());
    }
}

/// The main thread hands a job to the engine's thread and waits for its answer.
fn query(build: Build, detached: bool, collects: bool) {
    explore(move || {
        let interp = Interp::new(build);
        let (sender, answer) = channel();
        let other = interp.clone();
        interp
            .attach(|py| {
                let engine = spawn("engine", move || {
                    other.attach(|py| call_back(py, collects)).unwrap();
                    sender.send(42).unwrap();
                });
                let receive = || {
                    trace::waits("the engine's answer");
                    let got = answer.recv().unwrap();
                    trace::goes_on();
                    got
                };
                let got = if detached { py.detach(receive) } else { receive() };
                assert_eq!(got, 42);
                engine.join().unwrap();
            })
            .unwrap();
    });
}

/// Two threads ask for the engine at once. Making it takes a lock, and starting its thread calls back
/// into Python before it is ready.
fn made_once(build: Build, detached: bool) {
    explore_bounded(2, move || {
        let interp = Interp::new(build);
        let engine = Arc::new(Lock::new("the engine's lock", 0));
        let get = move |interp: &Interp, engine: &Lock<i32>| {
            interp
                .attach(|py| {
                    let make = || {
                        let mut made = engine.lock();
                        if *made == 0 {
                            if detached {
                                interp.attach(|py| call_back(py, true)).unwrap();
                            } else {
                                call_back(py, true);
                            }
                            *made += 1;
                        }
                    };
                    if detached { py.detach(make) } else { make() }
                })
                .unwrap();
        };
        let (other, shared) = (interp.clone(), engine.clone());
        let thread = spawn("B", move || get(&other, &shared));
        get(&interp, &engine);
        thread.join().unwrap();
        assert_eq!(*engine.lock(), 1);
    });
}

/// The interpreter exits while the engine's thread is about to call back: the attach is refused, and
/// the thread ends without its answer.
fn exit(build: Build) {
    explore(move || {
        let interp = Interp::new(build);
        let other = interp.clone();
        let engine = spawn("engine", move || {
            let called = other.attach(|py| call_back(py, false)).is_ok();
            trace::step(if called { "has called back" } else { "is refused and stops" });
        });
        interp.attach(|py| py.detach(|| engine.join().unwrap())).unwrap();
        interp.attach(|py| py.finalize()).unwrap();
        assert!(interp.attach(|_| ()).is_err());
    });
}

/// As `exit`, with the two in the wrong order: joined after the end, by a thread that comes back.
fn attach_regardless(build: Build) {
    explore(move || {
        let interp = Interp::new(build);
        let other = interp.clone();
        let engine = spawn("engine", move || {
            let _ = other.attach(|py| py.detach(|| trace::step("works detached")));
        });
        interp.attach(|py| py.finalize()).unwrap();
        trace::waits("the engine's thread to end");
        engine.join().unwrap();
        trace::goes_on();
    });
}
