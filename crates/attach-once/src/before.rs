//! Before: threads that live, and thread states that do not.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use pyo3::prelude::*;

type Job = Arc<dyn Fn() + Send + Sync>;

/// Native threads that take jobs; a job attaches when it needs Python.
///
/// Thread-safety: internally synchronised.
pub struct Pool {
    jobs: Mutex<Option<Sender<Job>>>,
    workers: Mutex<Vec<JoinHandle<()>>>,
    threads: usize,
}

// ANCHOR: before
impl Pool {
    pub fn new(threads: usize) -> Self {
        let (sender, receiver) = channel::<Job>();
        let receiver = Arc::new(Mutex::new(receiver));
        let worker = |_| {
            let jobs = receiver.clone();
            std::thread::spawn(move || {
                loop {
                    let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(job) = job else { return };
                    job();
                }
            })
        };
        let workers = (0..threads).map(worker).collect();
        Self { jobs: Mutex::new(Some(sender)), workers: Mutex::new(workers), threads }
    }

    /// Calls `work(0)` to `work(tasks - 1)`, spread over the threads, and waits.
    pub fn run(
        &self,
        py: Python<'_>,
        tasks: usize,
        work: impl Fn(Python<'_>, usize) + Send + Sync + 'static,
    ) {
        let next = std::sync::atomic::AtomicUsize::new(0);
        let (done, over) = channel();
        let job: Job = Arc::new(move || {
            loop {
                // Relaxed: the counter only hands out numbers.
                let task = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if task >= tasks {
                    break;
                }
                // As the guides say, attached for the block. The thread is unknown to Python, so
                // this makes a thread state, and the end of the closure destroys it.
                Python::attach(|py| work(py, task));
            }
            // The caller may have been interrupted; then nobody listens.
            let _ = done.send(());
        });
        if let Some(jobs) = &*self.jobs.lock().unwrap_or_else(PoisonError::into_inner) {
            for _ in 0..self.threads {
                jobs.send(job.clone()).expect("the workers live as long as the sender");
            }
        }
        drop(job);
        py.detach(move || (0..self.threads).for_each(|_| over.recv().expect("a worker ended")));
    }

    /// Waits for the threads to end. Attached: whoever has a job that needs Python cannot end.
    pub fn close(&self) {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take();
        for worker in self.workers.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            worker.join().expect("a job panicked");
        }
    }
}
// ANCHOR_END: before
