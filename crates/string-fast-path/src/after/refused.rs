//! Why a block was refused, and what its error says.

use pyo3::exceptions::{PyTypeError, PyUnicodeError};
use pyo3::prelude::*;

/// Why a block was refused; made without Python, so that any thread can.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The row is no string and not `None`.
    NotAString(usize),
    /// The row has a lone surrogate.
    Surrogate(usize),
}

impl Refused {
    /// The exception, naming `first + row`, the value and what was expected. `objects` is the block.
    pub fn into_err(self, py: Python<'_>, objects: &[Py<PyAny>], first: usize) -> PyErr {
        let (Self::NotAString(row) | Self::Surrogate(row)) = self;
        let value = objects[row].bind(py);
        let shown = value.repr().map_or("a value without a repr".into(), |repr| repr.to_string());
        let shown: String = shown.chars().take(80).collect();
        let row = first + row;
        match self {
            Self::NotAString(_) => {
                let kind = value.get_type().name().map_or("?".into(), |name| name.to_string());
                PyTypeError::new_err(format!("row {row}: {shown} is of type {kind}, not str"))
            }
            Self::Surrogate(_) => PyUnicodeError::new_err(format!(
                "row {row}: {shown} has a lone surrogate, which UTF-8 cannot hold"
            )),
        }
    }
}
