//! A scan thread uses the token of the thread that started it.
use pyo3::prelude::*;

// ANCHOR: case
fn scan(py: Python<'_>, nat: &Py<PyAny>) -> bool {
    std::thread::scope(|scope| {
        // error: the token says that *this* thread is attached, and cannot be sent to another.
        scope.spawn(|| nat.bind(py).is_none()).join().unwrap()
    })
}
// ANCHOR_END: case

fn main() {
    Python::attach(|py| scan(py, &py.None()));
}
