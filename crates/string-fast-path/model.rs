//! The UTF-8 that CPython keeps beside a string, published by one thread and read by another.

use interp_model::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use interp_model::sync::{Arc, UnsafeCell};
use interp_model::{Build, Interp, explore, spawn, trace};

pub const MODELS: &[(&str, fn(Build))] = &[
    ("plain_pointer", |build| {
        cached(build, Plan { publish: Ordering::Relaxed, look: Ordering::Relaxed, attached: true })
    }),
    ("read_without_attaching", |build| {
        cached(build, Plan { publish: Ordering::Relaxed, ..Plan::AFTER })
    }),
    ("cached", |build| cached(build, Plan::AFTER)),
    ("mutant_relaxed_load", |build| cached(build, Plan { look: Ordering::Relaxed, ..Plan::AFTER })),
    ("mutant_relaxed_store", |build| {
        cached(build, Plan { publish: Ordering::Relaxed, attached: true, ..Plan::AFTER })
    }),
];

#[derive(Clone, Copy)]
struct Plan {
    /// How CPython stores the pointer.
    publish: Ordering,
    /// How the scan loads it.
    look: Ordering,
    /// Whether the scanning thread is attached.
    attached: bool,
}

impl Plan {
    const AFTER: Self =
        Self { publish: Ordering::Release, look: Ordering::Acquire, attached: false };
}

/// A string whose UTF-8 is not made yet: the bytes, their length, and the pointer, here a flag.
struct Text {
    bytes: UnsafeCell<u32>,
    length: AtomicUsize,
    there: AtomicBool,
}

// SAFETY: the bytes are written once, before `there` is set; loom says if somebody reads them before.
unsafe impl Sync for Text {}

fn cached(build: Build, plan: Plan) {
    explore(move || {
        let interp = Interp::new(build);
        let text = Arc::new(Text {
            bytes: UnsafeCell::new(0),
            length: AtomicUsize::new(0),
            there: AtomicBool::new(false),
        });
        let (scan_interp, scanned) = (interp.clone(), text.clone());
        let scan = spawn("scan", move || {
            let look = || {
                if scanned.there.load(plan.look) {
                    trace::step("sees the pointer and reads the length and the bytes");
                    assert_eq!(
                        scanned.length.load(Ordering::Relaxed),
                        7,
                        "the length of the bytes"
                    );
                    // SAFETY: none is needed if the loads above are right; loom says if not.
                    scanned.bytes.with(|bytes| assert_eq!(unsafe { *bytes }, 0xC3BC));
                }
            };
            if plan.attached {
                scan_interp.attach(|_| look()).unwrap();
            } else {
                look();
            }
        });
        interp
            .attach(|py| {
                trace::step("writes the bytes");
                // SAFETY: as above.
                text.bytes.with_mut(|bytes| unsafe { *bytes = 0xC3BC });
                trace::step("writes the length");
                text.length.store(7, Ordering::Relaxed);
                trace::step("publishes the pointer to them");
                text.there.store(true, plan.publish);
                py.run_python();
            })
            .unwrap();
        scan.join().unwrap();
    });
}
