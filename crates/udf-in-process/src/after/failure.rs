//! From a row that failed to the exception that names it; all of it out of the hot path.

use pyo3::prelude::*;

use super::error::{Site, shown};
use super::refused::Refused;
use super::rows::Work;
use super::types::name;

/// Where a row failed. In the first two cases Python's exception is still set.
pub(super) enum Failure<'py> {
    Argument(usize),
    Raised,
    Result(Bound<'py, PyAny>, Refused),
}

impl<S> Work<'_, '_, S> {
    /// The exception for a row of this block.
    #[cold]
    #[inline(never)]
    pub fn error(&self, failure: Failure<'_>, row: usize) -> PyErr {
        let (py, signature) = (self.py, &self.udf.signature);
        let site = Site { function: &signature.name, row: (self.block.row_number)(row) };
        match failure {
            Failure::Argument(index) => {
                let cause = PyErr::fetch(py);
                let text = cause.value(py).to_string();
                let declared = name(&signature.types(index + 1).unwrap_or_default()[index]);
                let error = site.wrong(py, &format!("argument {} ({declared}): {text}", index + 1));
                error.set_cause(py, Some(cause));
                error
            }
            Failure::Raised => {
                // Taken off the thread before anything else runs Python.
                let cause = PyErr::fetch(py);
                site.raised(py, cause, &self.arguments(row))
            }
            Failure::Result(value, Refused::Because(why)) => {
                let declared = name(&signature.returns);
                let value = shown(&value);
                site.wrong(py, &format!("returned {value}, which {why}; {declared} is declared"))
            }
            Failure::Result(value, Refused::Raised(cause)) => {
                let text = format!("returned {}: {}", shown(&value), cause.value(py));
                let error = site.wrong(py, &text);
                error.set_cause(py, Some(cause));
                error
            }
        }
    }

    /// The arguments of a row as a message shows them: made again, since the call's own are gone.
    fn arguments(&self, row: usize) -> String {
        let shown = self.columns.iter().map(|column| {
            if column.is_null(row) {
                return String::from("None");
            }
            // SAFETY: attached; a new reference or null with an exception, which is taken here.
            let value =
                unsafe { Bound::from_owned_ptr_or_err(self.py, column.values.get(self.py, row)) };
            match value.and_then(|value| value.repr().map(|text| text.to_string())) {
                Ok(text) => text.chars().take(40).collect(),
                Err(_) => String::from("?"),
            }
        });
        shown.collect::<Vec<_>>().join(", ")
    }
}
