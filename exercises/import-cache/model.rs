//! One thread publishes, another reads; every order of their steps.

use interp_model::sync::Arc;
use interp_model::{Build, Interp, explore, spawn, trace};

use crate::cache::Published;

pub const MODELS: &[(&str, fn(Build))] = &[("published", published)];

fn published(build: Build) {
    explore(move || {
        let (interp, cache) = (Interp::new(build), Arc::new(Published::new(0usize)));
        let (other, shared) = (interp.clone(), cache.clone());
        let write = move || {
            trace::step("calls set(7)");
            shared.set(7);
            trace::step("is back from set");
        };
        let writer = spawn("B", move || other.attach(|_| write()));
        interp
            .attach(|_| {
                trace::step("calls get()");
                if let Some(value) = cache.get() {
                    assert_eq!(value, 7, "the flag was seen, and not the value");
                }
            })
            .unwrap();
        writer.join().unwrap().unwrap();
    });
}
