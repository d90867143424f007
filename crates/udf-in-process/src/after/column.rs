//! A column of arguments: its values, and which of them are null.

use arrow_array::ArrayRef;
use arrow_buffer::NullBuffer;
use pyo3::prelude::*;

use super::boxing::Boxer;

/// A column of arguments. Thread-safety: lives on one attached thread.
pub struct Column<'a, 'py> {
    /// The values; those of null rows are not to be looked at.
    pub values: Boxer<'a, 'py>,
    /// The column's validity; `None` if no row is null.
    pub nulls: Option<&'a NullBuffer>,
}

impl<'a, 'py> Column<'a, 'py> {
    /// # Errors
    /// `TypeError` for an array of a type that is not supported.
    pub fn new(py: Python<'py>, array: &'a ArrayRef) -> PyResult<Self> {
        Ok(Self { values: Boxer::new(py, array)?, nulls: array.nulls() })
    }

    /// Whether this row is null.
    #[inline(always)]
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }
}
