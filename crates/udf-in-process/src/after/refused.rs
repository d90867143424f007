//! Why a result was refused.

use pyo3::PyErr;

/// Why a value was refused: either a reason to put after the value, or an exception of its own.
pub enum Refused {
    /// For example "does not fit int8".
    Because(String),
    Raised(PyErr),
}

impl From<PyErr> for Refused {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

/// Refuses.
pub fn because<T>(text: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::Because(text.into()))
}
