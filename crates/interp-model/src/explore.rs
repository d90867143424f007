//! Running a model: every order of its threads' steps.

use crate::sync::thread::{Builder, JoinHandle};
use crate::trace;

/// Runs `model` in every order of its steps. Panics, and so fails the test, at the first order that
/// deadlocks, races or fails an assertion; [`trace::story`] tells that order.
///
/// loom's environment variables apply (`LOOM_MAX_PREEMPTIONS`, `LOOM_LOG`, ...).
pub fn explore(model: impl Fn() + Send + Sync + 'static) {
    run(loom::model::Builder::new(), model);
}

/// As [`explore`], but a thread is interrupted at most `preemptions` times in one run (waiting does
/// not count). For models of three threads; most faults show with two.
pub fn explore_bounded(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(preemptions));
    run(builder, model);
}

fn run(mut builder: loom::model::Builder, model: impl Fn() + Send + Sync + 'static) {
    builder.max_branches = builder.max_branches.max(10_000);
    builder.check(move || {
        trace::begin();
        model();
    });
}

/// A thread with a name, which its steps have in the story.
pub fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    Builder::new().name(name.into()).spawn(body).expect("loom starts what it is asked to")
}
