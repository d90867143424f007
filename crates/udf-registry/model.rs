//! The registry's protocol, in the modelled interpreter.
//!
//! A name is registered by two threads, or dropped by one while another looks it up. Making and
//! dropping a function runs Python, which collects.

use interp_model::sync::Arc;
use interp_model::sync::atomic::{AtomicUsize, Ordering};
use interp_model::{Build, Interp, Lock, Python, explore_bounded, spawn, trace};

pub const MODELS: &[(&str, fn(Build))] = &[
    ("check_then_act", |build| two_register(build, Registry::check_then_act)),
    ("python_under_lock", |build| two_register(build, Registry::under_lock)),
    ("register", |build| two_register(build, Registry::add)),
    ("drop_beside_look_up", |build| drop_beside(build, Registry::remove)),
    ("mutant_no_second_check", |build| two_register(build, Registry::no_second_check)),
    ("mutant_drop_under_lock", |build| drop_beside(build, Registry::remove_under_lock)),
    ("mutant_loser_dropped_under_lock", |build| two_register(build, Registry::loser_under_lock)),
];

/// A function that was registered. Dropping it runs Python.
struct Function;

struct Registry {
    functions: Lock<Option<Arc<Function>>>,
    /// How many calls were told that they registered the name.
    winners: AtomicUsize,
}

fn run_python(py: &Python<'_>, what: &str) {
    trace::step(what);
    py.run_python();
    py.stop_the_world(|| ());
}

fn make(py: &Python<'_>) -> Arc<Function> {
    run_python(py, "runs Python to make a function");
    Arc::new(Function)
}

fn drop_function(py: &Python<'_>, function: Option<Arc<Function>>) {
    if function.is_some() {
        run_python(py, "runs Python to drop a function");
    }
}

impl Registry {
    fn new(function: Option<Arc<Function>>) -> Arc<Self> {
        let functions = Lock::new("the registry's lock", function);
        Arc::new(Self { functions, winners: AtomicUsize::new(0) })
    }

    fn won(&self) {
        self.winners.fetch_add(1, Ordering::Relaxed);
    }

    fn find(&self) -> Option<Arc<Function>> {
        self.functions.lock().clone()
    }

    fn check_then_act(&self, py: &Python<'_>) {
        if self.find().is_none() {
            let function = make(py);
            *self.functions.lock() = Some(function);
            self.won();
        }
    }

    fn under_lock(&self, py: &Python<'_>) {
        let mut functions = self.functions.lock();
        if functions.is_none() {
            *functions = Some(make(py));
            self.won();
        }
    }

    fn add(&self, py: &Python<'_>) {
        if self.find().is_some() {
            return;
        }
        let function = make(py);
        let mut functions = self.functions.lock();
        let refused = if functions.is_none() {
            *functions = Some(function);
            self.won();
            None
        } else {
            Some(function)
        };
        drop(functions);
        drop_function(py, refused);
    }

    fn no_second_check(&self, py: &Python<'_>) {
        if self.find().is_some() {
            return;
        }
        let function = make(py);
        let old = self.functions.lock().replace(function);
        self.won();
        drop_function(py, old);
    }

    fn loser_under_lock(&self, py: &Python<'_>) {
        if self.find().is_some() {
            return;
        }
        let function = make(py);
        let mut functions = self.functions.lock();
        if functions.is_none() {
            *functions = Some(function);
            self.won();
        } else {
            drop_function(py, Some(function));
        }
    }

    fn remove(&self, py: &Python<'_>) {
        let removed = self.functions.lock().take();
        drop_function(py, removed);
    }

    fn remove_under_lock(&self, py: &Python<'_>) {
        let mut functions = self.functions.lock();
        drop_function(py, functions.take());
    }
}

/// Two threads register the same name: exactly one is told that it did.
fn two_register(build: Build, add: fn(&Registry, &Python<'_>)) {
    explore_bounded(4, move || {
        let (interp, registry) = (Interp::new(build), Registry::new(None));
        let (other, shared) = (interp.clone(), registry.clone());
        // Whoever has registered runs some Python and uses the registry, attached.
        let work = move |registry: &Registry, py: &Python<'_>| {
            add(registry, py);
            py.run_python();
            drop(registry.find());
        };
        let thread = spawn("B", move || other.attach(|py| work(&shared, py)));
        interp.attach(|py| work(&registry, py)).unwrap();
        thread.join().unwrap().unwrap();
        assert!(registry.find().is_some());
        assert_eq!(registry.winners.load(Ordering::Relaxed), 1, "two were told that they won");
    });
}

/// One thread drops the name, another looks it up and runs what it found.
fn drop_beside(build: Build, remove: fn(&Registry, &Python<'_>)) {
    explore_bounded(4, move || {
        let (interp, registry) = (Interp::new(build), Registry::new(Some(Arc::new(Function))));
        let (other, shared) = (interp.clone(), registry.clone());
        let query = spawn("query", move || {
            other.attach(|py| {
                if let Some(function) = shared.find() {
                    run_python(py, "runs the function");
                    // It lives as long as somebody runs it.
                    assert!(Arc::strong_count(&function) >= 1);
                }
            })
        });
        interp.attach(|py| remove(&registry, py)).unwrap();
        query.join().unwrap().unwrap();
        assert!(registry.find().is_none());
    });
}
