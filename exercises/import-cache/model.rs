//! One thread publishes, another reads; every order of their steps.

use interp_model::sync::Arc;
use interp_model::{Build, Interp, explore, spawn};

use crate::cache::Published;

pub const MODELS: &[(&str, fn(Build))] = &[("published", published)];

fn published(build: Build) {
    explore(move || {
        let (interp, cache) = (Interp::new(build), Arc::new(Published::new(0usize)));
        let (other, shared) = (interp.clone(), cache.clone());
        let writer = spawn("B", move || other.attach(|_| shared.set(7)));
        interp
            .attach(|_| {
                if let Some(value) = cache.get() {
                    assert_eq!(value, 7, "the flag was seen, and not the value");
                }
            })
            .unwrap();
        writer.join().unwrap().unwrap();
    });
}
