//! The engine of this lesson: a thread of its own that does one job after the other. It knows
//! nothing of Python; yours is a library of many thousand lines.

use std::sync::mpsc::{Sender, channel};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

/// Thread-safety: internally synchronised.
pub struct Engine {
    jobs: Sender<Job>,
}

impl Engine {
    pub fn start() -> Self {
        let (jobs, inbox) = channel::<Job>();
        thread::spawn(move || {
            for job in inbox {
                job();
            }
        });
        Self { jobs }
    }

    /// Runs `job` on the engine's thread and waits for what it gives.
    pub fn run<R: Send + 'static>(&self, job: impl FnOnce() -> R + Send + 'static) -> R {
        let (reply, answer) = channel();
        let job = Box::new(move || {
            let _ = reply.send(job());
        });
        self.jobs.send(job).expect("the engine's thread ends with the process");
        answer.recv().expect("a job answers")
    }
}
