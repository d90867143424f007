use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use pyo3::prelude::*;

type Answer = PyResult<Py<PyAny>>;
type Job = (Py<PyAny>, Sender<Answer>);

// SOLUTION work
/// What the pool's thread does: attached once, detached while it waits.
fn work(todo: Receiver<Job>) {
    let todo = Mutex::new(todo);
    Python::attach(|py| {
        while let Ok((function, done)) = py.detach(|| todo.lock().unwrap().recv()) {
            done.send(function.call0(py)).unwrap_or(());
        }
    });
}
// STARTER
// /// What the pool's thread does.
// fn work(todo: Receiver<Job>) {
//     while let Ok((function, done)) = todo.recv() {
//         Python::attach(|py| {
//             done.send(function.call0(py)).unwrap_or(());
//             drop(function);
//         });
//     }
// }
// END

#[pymodule(gil_used = false)]
mod exercise {
    use super::*;

    #[pyclass(frozen)]
    struct Pool {
        jobs: Mutex<Sender<Job>>,
    }

    #[pymethods]
    impl Pool {
        #[new]
        fn new() -> Self {
            let (jobs, todo) = channel();
            thread::spawn(move || work(todo));
            Self { jobs: Mutex::new(jobs) }
        }

        /// Calls `function` on the pool's thread.
        fn call(&self, py: Python<'_>, function: Py<PyAny>) -> Answer {
            // SOLUTION call
            let (done, result) = channel();
            self.jobs.lock().unwrap().send((function, done)).expect("the thread lives");
            py.detach(move || result.recv()).expect("the thread answers")
            // STARTER
            // let (done, result) = channel();
            // self.jobs.lock().unwrap().send((function, done)).expect("the thread lives");
            // py.detach(move || result.recv()).expect("the thread answers")
            // END
        }
    }
}
