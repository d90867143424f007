//! The protocol of the import cache, in the modelled interpreter.
//!
//! Two threads look the cached object up while both are attached; the payload stands for the pointer
//! to `datetime.date`. What the model leaves out: the object itself and its reference count.

use interp_model::sync::atomic::{AtomicBool, Ordering};
use interp_model::sync::{Arc, Once, UnsafeCell};
use interp_model::{Build, Interp, OnceExt, Python, explore, explore_bounded, spawn, trace};

pub const MODELS: &[(&str, fn(Build))] = &[
    ("plain_flag", |build| unsynchronised(build)),
    ("attached_once", |build| cold_start(build, Cache::get_attached)),
    ("published", |build| cold_start(build, Cache::get)),
    ("published_with_collector", with_collector),
    ("failing_import", failing_import),
    ("mutant_relaxed_store", |build| two(build, Ordering::Relaxed, Ordering::Acquire, false)),
    ("mutant_relaxed_load", |build| two(build, Ordering::Release, Ordering::Relaxed, false)),
    ("mutant_publish_first", |build| two(build, Ordering::Release, Ordering::Acquire, true)),
    ("two_readers", |build| two(build, Ordering::Release, Ordering::Acquire, false)),
];

struct Cache {
    loaded: AtomicBool,
    object: UnsafeCell<usize>,
    once: Once,
}

// SAFETY: what the models test; loom sees every access.
unsafe impl Sync for Cache {}

const DATE: usize = 7;

impl Cache {
    fn new() -> Arc<Self> {
        let (loaded, object) = (AtomicBool::new(false), UnsafeCell::new(0));
        Arc::new(Self { loaded, object, once: Once::new() })
    }

    fn read(&self) -> usize {
        trace::step("reads the object");
        // SAFETY: loom checks that no write runs beside it.
        self.object.with(|object| unsafe { *object })
    }

    fn write(&self) {
        trace::step("writes the object");
        // SAFETY: as above.
        self.object.with_mut(|object| unsafe { *object = DATE });
    }

    /// The import runs Python, and Python collects.
    fn import(&self, py: &Python<'_>) {
        py.run_python();
        py.stop_the_world(|| ());
        self.write();
        // Release: pairs with the Acquire in the look-ups.
        self.loaded.store(true, Ordering::Release);
    }

    /// The first repair that comes to mind: a once around the slow path.
    fn get_attached(&self, py: &Python<'_>) -> usize {
        if !self.loaded.load(Ordering::Acquire) {
            self.once.call_once(|| self.import(py));
        }
        self.read()
    }

    /// After: detached at the door of the once, attached inside.
    fn get(&self, py: &Python<'_>) -> usize {
        if !self.loaded.load(Ordering::Acquire) {
            self.once.call_once_py_attached(py, |py| self.import(py));
        }
        self.read()
    }
}

/// Before: whoever finds nothing imports, and a plain pointer says whether there is something.
/// Under the GIL the two cannot meet; without it they do.
fn unsynchronised(build: Build) {
    explore(move || {
        let (interp, cache) = (Interp::new(build), Cache::new());
        let look_up = |interp: &Interp, cache: &Cache| {
            interp.attach(|_| {
                if cache.read() == 0 {
                    cache.write();
                }
                assert_eq!(cache.read(), DATE);
            })
        };
        let (other, shared) = (interp.clone(), cache.clone());
        let thread = spawn("B", move || look_up(&other, &shared).unwrap());
        look_up(&interp, &cache).unwrap();
        thread.join().unwrap();
    });
}

fn cold_start(build: Build, get: fn(&Cache, &Python<'_>) -> usize) {
    explore_bounded(3, move || {
        let (interp, cache) = (Interp::new(build), Cache::new());
        let (other, shared) = (interp.clone(), cache.clone());
        let thread =
            spawn("B", move || other.attach(|py| assert_eq!(get(&shared, py), DATE)).unwrap());
        interp.attach(|py| assert_eq!(get(&cache, py), DATE)).unwrap();
        thread.join().unwrap();
    });
}

/// As `cold_start`, while a third thread collects: three threads, so bounded.
fn with_collector(build: Build) {
    explore_bounded(2, move || {
        let (interp, cache) = (Interp::new(build), Cache::new());
        let (other, shared) = (interp.clone(), cache.clone());
        let thread =
            spawn("B", move || other.attach(|py| assert_eq!(shared.get(py), DATE)).unwrap());
        let other = interp.clone();
        let collector = spawn("collector", move || other.attach(|py| py.stop_the_world(|| ())));
        interp.attach(|py| assert_eq!(cache.get(py), DATE)).unwrap();
        thread.join().unwrap();
        collector.join().unwrap().unwrap();
    });
}

/// The first import fails: the cache stays empty, nobody hangs, and the next look-up imports again.
fn failing_import(build: Build) {
    explore_bounded(2, move || {
        let (interp, cache) = (Interp::new(build), Cache::new());
        let attempts = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let look_up = |interp: &Interp,
                       cache: &Cache,
                       attempts: &std::sync::atomic::AtomicUsize| {
            interp
                .attach(|py| {
                    py.detach(|| {
                        cache.once.try_call_once(|| {
                            interp
                                .attach(|py| {
                                    py.run_python();
                                    let first = attempts
                                        .fetch_add(1, std::sync::atomic::Ordering::Relaxed)
                                        == 0;
                                    if first { Err("no such module") } else { Ok(cache.import(py)) }
                                })
                                .unwrap()
                        })
                    })
                })
                .unwrap()
        };
        let (other, shared, count) = (interp.clone(), cache.clone(), attempts.clone());
        let thread = spawn("B", move || look_up(&other, &shared, &count).is_err());
        let mine = look_up(&interp, &cache, &attempts).is_err();
        let others = thread.join().unwrap();
        assert_eq!([mine, others].iter().filter(|failed| **failed).count(), 1);
        assert!(cache.loaded.load(Ordering::Acquire) && cache.read() == DATE);
    });
}

/// The fast path alone: one thread publishes, another reads, both attached.
fn two(build: Build, store: Ordering, load: Ordering, flag_first: bool) {
    explore(move || {
        let (interp, cache) = (Interp::new(build), Cache::new());
        let (other, shared) = (interp.clone(), cache.clone());
        let writer = spawn("B", move || {
            other.attach(|py| {
                if flag_first {
                    shared.loaded.store(true, store);
                    // The import is between the two, and it runs Python.
                    py.run_python();
                    shared.write();
                } else {
                    shared.write();
                    shared.loaded.store(true, store);
                }
            })
        });
        interp
            .attach(|_| {
                if cache.loaded.load(load) {
                    assert_eq!(cache.read(), DATE);
                }
            })
            .unwrap();
        writer.join().unwrap().unwrap();
    });
}
