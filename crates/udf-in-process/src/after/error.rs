//! Errors that name the function, the row, the value and what was expected.

use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;

pyo3::create_exception!(
    ungil,
    FunctionError,
    PyRuntimeError,
    "A user-defined function failed at a row. `function` and `row` say where; the exception that \
     the function raised, if it raised one, is `__cause__`."
);

/// Where in a table a function is at work.
pub struct Site<'a> {
    /// The function's name.
    pub function: &'a str,
    /// The number of the row, from 0.
    pub row: u64,
}

impl Site<'_> {
    /// The value is wrong: the text says what it is and what was expected.
    pub fn wrong(&self, py: Python<'_>, text: &str) -> PyErr {
        let error = FunctionError::new_err(format!("{}: row {}: {text}", self.function, self.row));
        let value = error.value(py);
        // Two attributes on a fresh exception: only memory could fail here, and the text stands.
        let _ = value.setattr("function", self.function);
        let _ = value.setattr("row", self.row);
        error
    }

    /// The function raised. What is not an `Exception` (KeyboardInterrupt, SystemExit) goes on as
    /// it is; the others become the cause of a [`FunctionError`].
    pub fn raised(&self, py: Python<'_>, cause: PyErr, arguments: &str) -> PyErr {
        if !cause.is_instance_of::<PyException>(py) {
            return cause;
        }
        let kind = cause.get_type(py).name().map(|n| n.to_string()).unwrap_or_default();
        // `__str__` of a user's exception may fail in its turn.
        let text = cause.value(py).str().map(|s| s.to_string()).unwrap_or_default();
        let colon = if text.is_empty() { "" } else { ": " };
        let error = self.wrong(py, &format!("raised {kind}{colon}{text} for ({arguments})"));
        error.set_cause(py, Some(cause));
        error
    }
}

/// A value as a message shows it: its repr, cut where it gets long, and its type.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    const LONGEST: usize = 80;
    let repr = match value.repr() {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => "a value whose repr fails".into(),
    };
    let kind = value.get_type().name().map(|n| n.to_string()).unwrap_or_default();
    let cut: String = repr.chars().take(LONGEST).collect();
    let dots = if cut.len() < repr.len() { "..." } else { "" };
    format!("{cut}{dots} ({kind})")
}
