use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

static ENGINE: OnceLock<Engine> = OnceLock::new();
/// The process that made the engine; 0 before.
static OWNER: AtomicU32 = AtomicU32::new(0);
/// How many were made.
static MADE: AtomicUsize = AtomicUsize::new(0);

type Job = Box<dyn FnOnce() + Send>;

/// A thread that does what it is sent.
struct Engine {
    jobs: Mutex<Sender<Job>>,
}

impl Engine {
    fn start() -> Self {
        MADE.fetch_add(1, Ordering::Relaxed);
        let (jobs, todo) = channel::<Job>();
        std::thread::spawn(move || todo.into_iter().for_each(|job| job()));
        Self { jobs: Mutex::new(jobs) }
    }

    /// Runs `work` on the engine's thread and waits for what it gives.
    fn call<R: Send + 'static>(&self, work: impl FnOnce() -> R + Send + 'static) -> R {
        let (done, result) = channel();
        let job: Job = Box::new(move || done.send(work()).unwrap_or(()));
        self.jobs.lock().unwrap().send(job).expect("the engine's thread lives");
        result.recv().expect("the engine answers")
    }
}

#[pymodule(gil_used = false)]
mod exercise {
    use super::*;

    /// Calls `function` on the engine's thread.
    #[pyfunction]
    fn run(py: Python<'_>, function: Py<PyAny>) -> PyResult<Py<PyAny>> {
        // SOLUTION run
        let me = std::process::id();
        // Relaxed: the number is compared with one's own, and nothing is read through it.
        let owner = OWNER.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed);
        if owner.is_err_and(|owner| owner != me) {
            let text = "the engine's thread did not come along into this process: use \"spawn\"";
            return Err(PyRuntimeError::new_err(text));
        }
        py.detach(|| {
            let engine = ENGINE.get_or_init(Engine::start);
            engine.call(move || Python::attach(|py| function.call0(py)))
        })
        // STARTER
        // let _ = (py, &OWNER, PyRuntimeError::new_err::<&str>);
        // let engine = ENGINE.get_or_init(Engine::start);
        // engine.call(move || Python::attach(|py| function.call0(py)))
        // END
    }

    /// How many engines were made in this process.
    #[pyfunction]
    fn engines() -> usize {
        MADE.load(Ordering::Relaxed)
    }
}
