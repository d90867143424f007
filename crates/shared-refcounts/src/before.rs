//! Before: the function as it came, and an argument that all threads share.

use pyo3::prelude::*;

// ANCHOR: before
/// A function with one constant argument, as an engine keeps it: `rate` was boxed once.
pub struct Scaled {
    pub function: Py<PyAny>,
    pub rate: Py<PyAny>,
}

impl Scaled {
    /// Calls it for each row of a block.
    ///
    /// # Errors
    /// What the function raises.
    pub fn block(&self, py: Python<'_>, rows: &[f64], out: &mut Vec<f64>) -> PyResult<()> {
        let (function, rate) = (self.function.bind(py), self.rate.bind(py));
        for value in rows {
            // Each call counts a reference to `rate` up and down: one cache line, all threads.
            out.push(function.call1((*value, rate))?.extract()?);
        }
        Ok(())
    }
}
// ANCHOR_END: before
