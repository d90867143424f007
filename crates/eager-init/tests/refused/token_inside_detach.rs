//! A thread that has detached uses the token that it had before.
use pyo3::prelude::*;

fn scan(py: Python<'_>) {
    py.detach(|| py.import("pandas").is_ok());
}

fn main() {
    Python::attach(scan);
}
