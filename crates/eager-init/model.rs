//! A scan thread that meets a null, in the modelled interpreter.

use interp_model::sync::atomic::{AtomicUsize, Ordering};
use interp_model::sync::{Arc, OnceLock};
use interp_model::{Build, Interp, Python, explore, explore_bounded, spawn, trace};

pub const MODELS: &[(&str, fn(Build))] = &[
    ("lazy_without_attach", lazy_without_attach),
    ("lazy_attached_each", |build| lazy_attached(build, false)),
    ("eager", eager),
    ("mutant_published_relaxed", published_relaxed),
    ("mutant_joined_attached", |build| lazy_attached(build, true)),
];

const NAT: usize = 7;

fn import(py: &Python<'_>) -> usize {
    trace::step("imports pandas");
    py.run_python();
    py.stop_the_world(|| ());
    NAT
}

/// Before: the scan thread looks the sentinel up when it first needs it.
fn lazy_without_attach(build: Build) {
    explore(move || {
        let interp = Interp::new(build);
        let other = interp.clone();
        interp
            .attach(|py| {
                let scan = spawn("scan", move || other.c_api("PyImport_ImportModule"));
                py.detach(|| scan.join().unwrap());
            })
            .unwrap();
    });
}

/// The repair that attaches at each null works, if the one who waits is detached; it is slow.
fn lazy_attached(build: Build, joined_attached: bool) {
    explore_bounded(3, move || {
        let interp = Interp::new(build);
        let other = interp.clone();
        interp
            .attach(|py| {
                let scan = spawn("scan", move || {
                    assert_eq!(other.attach(import).unwrap(), NAT);
                });
                let join = || {
                    trace::waits("the scan to end");
                    scan.join().unwrap();
                    trace::goes_on();
                };
                if joined_attached { join() } else { py.detach(join) }
            })
            .unwrap();
    });
}

/// After: resolved while attached, before the threads start; they compare, and never attach.
fn eager(build: Build) {
    explore_bounded(2, move || {
        let interp = Interp::new(build);
        interp
            .attach(|py| {
                let nat = Arc::new(OnceLock::new());
                nat.get_or_init(|| import(py));
                let scans = ["scan 1", "scan 2"].map(|name| {
                    let nat = nat.clone();
                    spawn(name, move || assert_eq!(nat.get(), Some(NAT)))
                });
                py.detach(|| scans.map(|scan| scan.join().unwrap()));
            })
            .unwrap();
    });
}

/// A flag that says "resolved", stored Relaxed beside the sentinel, and threads that run already.
fn published_relaxed(build: Build) {
    explore(move || {
        let interp = Interp::new(build);
        let (nat, resolved) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (seen, flag) = (nat.clone(), resolved.clone());
        let scan = spawn("scan", move || {
            if flag.load(Ordering::Relaxed) == 1 {
                trace::step("sees that the sentinel is resolved");
                assert_eq!(seen.load(Ordering::Relaxed), NAT, "and does not see the sentinel");
            }
        });
        interp
            .attach(|py| {
                nat.store(NAT, Ordering::Relaxed);
                resolved.store(1, Ordering::Relaxed);
                py.detach(|| scan.join().unwrap());
            })
            .unwrap();
    });
}
