use std::thread::{self, JoinHandle};

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod exercise {
    use super::*;

    type Answer = PyResult<Py<PyAny>>;

    /// Calls each function on a thread of its own.
    #[pyfunction]
    fn gather(py: Python<'_>, functions: Vec<Py<PyAny>>) -> PyResult<Vec<Py<PyAny>>> {
        // SOLUTION gather
        let threads: Vec<JoinHandle<Answer>> = functions.into_iter().map(start).collect();
        py.detach(|| threads.into_iter().map(|thread| thread.join().expect("no panic")).collect())
        // STARTER
        // let _ = py;
        // let threads: Vec<JoinHandle<Answer>> = functions.into_iter().map(start).collect();
        // threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        // END
    }

    fn start(function: Py<PyAny>) -> JoinHandle<Answer> {
        thread::spawn(move || Python::attach(|py| function.call0(py)))
    }
}
