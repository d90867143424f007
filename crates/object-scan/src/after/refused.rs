//! Why a row has no value, and what its error says.

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;

use super::Value;

/// Why a row has no value.
#[derive(Debug)]
pub enum Refused {
    /// It is of another type.
    Kind,
    /// Its value does not fit.
    Range,
    /// Its own code (`__index__`, `__float__`) raised.
    Raised(PyErr),
}

impl Refused {
    /// The exception, naming row, value and the type that was expected.
    pub(super) fn into_err<T: Value>(self, object: &Bound<'_, PyAny>, row: usize) -> PyErr {
        let shown = || -> String {
            let text = object.repr().map_or("a value without a repr".into(), |r| r.to_string());
            text.chars().take(80).collect()
        };
        match self {
            Self::Raised(error) => error,
            Self::Kind => {
                let kind = object.get_type().name().map_or("?".into(), |name| name.to_string());
                PyTypeError::new_err(format!(
                    "row {row}: {} is of type {kind}, not {}",
                    shown(),
                    T::NAME
                ))
            }
            Self::Range => {
                PyOverflowError::new_err(format!("row {row}: {} does not fit {}", shown(), T::NAME))
            }
        }
    }
}
