//! The summary of the port: `SELECT sum(speed(distance, air_time)) FROM flights`, with the function
//! called as each step calls it, the steps before it included.

pub mod bench;
mod step;

use pyo3::prelude::*;

/// Adds the submodule.
pub fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "whole_port")?;
    bench::register(&module)?;
    parent.add_submodule(&module)
}
