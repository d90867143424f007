//! The engine as Python sees it. Lessons put functions into its registry; it knows none of them.

#![warn(missing_docs)]

mod engine_class;
mod exit;
mod registry;
mod result;

pub use engine_class::{Engine, EngineError, SqlError, drive};
pub use registry::{drop_function, function, register_function};
pub use result::QueryResult;

use pyo3::prelude::*;

/// The sum that `sum` gives for float64: rounded once, as `math.fsum`.
#[pyfunction]
fn exact_sum(values: Vec<f64>) -> f64 {
    engine::exact_sum(&values)
}

/// Adds the classes to the extension.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let shut_down = wrap_pyfunction!(exit::shut_down, module)?;
    py.import("atexit")?.call_method1("register", (shut_down,))?;
    module.add("EngineError", py.get_type::<EngineError>())?;
    module.add("SqlError", py.get_type::<SqlError>())?;
    module.add_function(wrap_pyfunction!(exact_sum, module)?)?;
    module.add_class::<Engine>()?;
    module.add_class::<QueryResult>()
}
