//! After: a pool of threads that Python knows for as long as they live.
//!
//! Copy this folder. It needs pyo3 and std alone.

mod batch;

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCFunction;

use batch::{Batch, Job, is_worker, worker};

/// How long a caller waits, detached, before it looks for Ctrl-C.
const SIGNALS: Duration = Duration::from_millis(50);

/// Threads that attach once for their life and are detached whenever they are not in Python.
///
/// Thread-safety: internally synchronised; calls of [`run`](Self::run) share the threads.
pub struct Pool {
    jobs: Mutex<Option<Sender<Job>>>,
    workers: Mutex<Vec<JoinHandle<()>>>,
    threads: usize,
    /// The process that has the threads: a forked child has this struct and no threads.
    owner: u32,
}

fn error(text: &str) -> PyErr {
    PyRuntimeError::new_err(text.to_owned())
}

impl Pool {
    /// Starts the threads, and has `atexit` close the pool: they must be gone before the interpreter
    /// begins to end, since a thread that attaches later never returns.
    ///
    /// # Errors
    /// `ValueError` for no thread or more than 1024; of the system, if it refuses a thread, and of
    /// `atexit`.
    pub fn new(py: Python<'_>, threads: usize) -> PyResult<Arc<Self>> {
        if !(1..=1024).contains(&threads) {
            let text = format!("a pool has 1 to 1024 threads, not {threads}");
            return Err(PyValueError::new_err(text));
        }
        let (sender, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let mut workers = Vec::with_capacity(threads);
        for index in 0..threads {
            let jobs = receiver.clone();
            // On an error the sender goes, and the threads that were started end.
            workers
                .push(Builder::new().name(format!("pool-{index}")).spawn(move || worker(&jobs))?);
        }
        let pool = Arc::new(Self {
            jobs: Mutex::new(Some(sender)),
            workers: Mutex::new(workers),
            threads,
            owner: std::process::id(),
        });
        let weak = Arc::downgrade(&pool);
        let close = PyCFunction::new_closure(py, None, None, move |args, _| {
            weak.upgrade().map_or(Ok(()), |pool| pool.close(args.py()))
        })?;
        py.import("atexit")?.call_method1("register", (close,))?;
        Ok(pool)
    }

    // ANCHOR: run
    /// Calls `work(0)` to `work(tasks - 1)`, spread over the threads, and waits, detached. `work` runs
    /// detached and attaches where it needs Python.
    ///
    /// # Errors
    /// Of the tasks that fail, the error of the first; what a signal handler raised meanwhile;
    /// `RuntimeError` if the pool is closed, is asked by one of its own threads, or was made before
    /// this process was forked.
    ///
    /// # Panics
    /// If a task does.
    pub fn run(
        &self,
        py: Python<'_>,
        tasks: usize,
        work: impl Fn(usize) -> PyResult<()> + Send + Sync + 'static,
    ) -> PyResult<()> {
        // Before any lock: whoever had it when the process was forked is not here.
        if self.owner != std::process::id() {
            return Err(error(
                "the pool's threads stayed in the process that was forked; start processes with \
                 the method \"spawn\" or \"forkserver\", or make a pool in the child",
            ));
        }
        if is_worker() {
            return Err(error("a task of a pool must not wait for a pool"));
        }
        let batch = Batch::new(tasks, work);
        let (done, mut over) = channel();
        {
            // Nobody blocks or runs Python under this lock, so it may be taken while attached.
            let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
            let jobs = jobs.as_ref().ok_or_else(|| error("the pool is closed"))?;
            for _ in 0..self.threads.min(tasks) {
                // Refused once no worker is left, and then `outcome` says so below.
                let _ = jobs.send(Job { batch: batch.clone(), done: done.clone() });
            }
        }
        drop(done);
        let (mut interrupt, mut panicked) = (None, None);
        loop {
            let receiver = &mut over;
            match py.detach(move || receiver.recv_timeout(SIGNALS)) {
                Ok(told) => panicked = told.err().or(panicked),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if interrupt.is_none() => {
                    interrupt = py.check_signals().err();
                    if interrupt.is_some() {
                        // The tasks that have begun are waited for.
                        batch.cancel();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        if let Some(panic) = panicked {
            resume_unwind(panic);
        }
        match (interrupt, batch.outcome()) {
            (Some(raised), _) | (None, (Some(raised), _)) => Err(raised),
            (None, (None, true)) => Ok(()),
            (None, (None, false)) => Err(error("the interpreter is shutting down")),
        }
    }
    // ANCHOR_END: run

    // ANCHOR: close
    /// Lets the threads finish what they have and ends them; waits for that detached, since they must
    /// attach to end. A second call does nothing; neither does a call in a forked child.
    ///
    /// # Errors
    /// `RuntimeError` in one of the pool's own threads, which would wait for itself.
    pub fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.owner != std::process::id() {
            return Ok(());
        }
        if is_worker() {
            return Err(error("a task of a pool must not close a pool"));
        }
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| {
            // Held while joining: a second caller waits, detached, until the threads are gone.
            let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
            for worker in workers.drain(..) {
                // Panics of tasks were caught and went to their callers.
                let _ = worker.join();
            }
        });
        Ok(())
    }
    // ANCHOR_END: close
}
