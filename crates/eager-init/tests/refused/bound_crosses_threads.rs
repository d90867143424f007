//! A scan thread gets a `Bound`, which carries the token with it.
use pyo3::prelude::*;

fn scan(nat: Bound<'static, PyAny>) {
    std::thread::spawn(move || nat.is_none());
}

fn main() {
    Python::attach(|py| scan(py.None().into_bound(py)));
}
