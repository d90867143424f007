//! A scan thread imports without being attached.
use pyo3::prelude::*;

fn scan() {
    std::thread::spawn(|| PyModule::import("pandas"));
}

fn main() {
    scan();
}
