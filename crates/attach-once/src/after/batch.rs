//! The work of one call, and the threads that do it.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;

pub type Panicked = Box<dyn Any + Send>;

/// One call of [`run`](super::Pool::run), as its workers share it.
///
/// Thread-safety: internally synchronised.
pub struct Batch {
    work: Box<dyn Fn(usize) -> PyResult<()> + Send + Sync>,
    next: AtomicUsize,
    /// Tasks from this number on are not wanted: an earlier one failed, or the caller was
    /// interrupted.
    end: AtomicUsize,
    failure: Mutex<Option<(usize, PyErr)>>,
}

/// A worker's part of a batch; `done` is told when the worker has let go of it.
pub struct Job {
    pub batch: Arc<Batch>,
    pub done: Sender<Result<(), Panicked>>,
}

thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is a worker of some pool, which must not wait for one.
pub fn is_worker() -> bool {
    IS_WORKER.get()
}

// ANCHOR: worker
/// The life of one thread.
pub fn worker(jobs: &Mutex<Receiver<Job>>) {
    IS_WORKER.set(true);
    // The thread state is made here, once, and destroyed when the pool is closed. The thread is
    // attached for no longer than it takes to detach: `detach` keeps the state, and an attach inside
    // it finds the state again. `None`: the interpreter is shutting down, and there will be no jobs.
    Python::try_attach(|py| {
        py.detach(|| {
            loop {
                // Idle means detached: a waiter here must not hold up a collection or the GIL.
                let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok(Job { batch, done }) = job else { return };
                let result = catch_unwind(AssertUnwindSafe(|| batch.run()));
                // Let go before the caller is told: then the caller's is the last reference, and
                // what the work holds is dropped attached, not queued.
                drop(batch);
                // What the tasks dropped while detached waits in PyO3's queue until some thread
                // attaches.
                Python::try_attach(|_| ());
                // The caller listens until every worker has told.
                let _ = done.send(result);
            }
        });
    });
}
// ANCHOR_END: worker

impl Batch {
    pub fn new(
        tasks: usize,
        work: impl Fn(usize) -> PyResult<()> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            work: Box::new(work),
            next: AtomicUsize::new(0),
            end: AtomicUsize::new(tasks),
            failure: Mutex::new(None),
        })
    }

    // Relaxed, in all of these: the two numbers only share out tasks. What the tasks did is
    // published by the channel that says the worker is done.
    fn run(&self) {
        loop {
            let task = self.next.fetch_add(1, Ordering::Relaxed);
            if task >= self.end.load(Ordering::Relaxed) {
                return;
            }
            if let Err(error) = (self.work)(task) {
                // Tasks before this one go on: the error of the first one is the answer.
                self.end.fetch_min(task, Ordering::Relaxed);
                let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                if failure.as_ref().is_none_or(|(first, _)| task < *first) {
                    *failure = Some((task, error));
                }
            }
        }
    }

    /// Lets no task begin any more.
    pub fn cancel(&self) {
        self.end.store(0, Ordering::Relaxed);
    }

    /// Once every worker is done: the error of the first task that failed, and whether each task
    /// that was wanted has begun.
    pub fn outcome(&self) -> (Option<PyErr>, bool) {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        let begun = self.next.load(Ordering::Relaxed) >= self.end.load(Ordering::Relaxed);
        (failure.map(|(_, error)| error), begun)
    }
}
