//! The rows of a block: what becomes of nulls, results and errors.

use arrow_array::ArrayRef;
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;

use super::Block;
use super::column::Column;
use super::failure::Failure;
use super::frame::Frame;
use super::scalar::{OnError, OnNull, ScalarUdf};
use super::unboxing::Unboxer;

/// A block at work.
pub(super) struct Work<'a, 'py, S> {
    pub udf: &'a ScalarUdf,
    pub py: Python<'py>,
    pub columns: &'a [Column<'a, 'py>],
    pub block: &'a Block<'a>,
    pub stopped: &'a S,
}

impl<'py, S: Fn() -> bool> Work<'_, 'py, S> {
    /// Every row: `call` makes the arguments and calls; what becomes of nulls, results and errors is
    /// decided here.
    #[inline(always)]
    pub fn rows(
        &self,
        nulls: bool,
        mut call: impl FnMut(usize) -> Result<Bound<'py, PyAny>, Failure<'py>>,
    ) -> PyResult<ArrayRef> {
        let Self { udf, py, columns, block, .. } = *self;
        let skipping = nulls && udf.on_null == OnNull::Skip;
        let mut results = Unboxer::new(py, &udf.signature.returns, block.rows)?;
        for row in 0..block.rows {
            if (self.stopped)() {
                return Err(PyRuntimeError::new_err("the query was stopped"));
            }
            if skipping && columns.iter().any(|column| column.is_null(row)) {
                results.push_null();
                continue;
            }
            let failure = match call(row) {
                Ok(value) => match results.push(&value) {
                    Ok(()) => continue,
                    Err(refused) => Failure::Result(value, refused),
                },
                Err(failure) => failure,
            };
            let error = self.error(failure, row);
            if udf.on_error == OnError::Propagate || !error.is_instance_of::<PyException>(py) {
                return Err(error);
            }
            results.push_null();
        }
        Ok(results.finish())
    }
}

// ANCHOR: one
/// One row of any types: box the arguments, call.
#[inline(always)]
pub(super) fn one<'py>(
    py: Python<'py>,
    function: &Bound<'py, PyAny>,
    columns: &[Column<'_, 'py>],
    row: usize,
    frame: &mut Frame<'py>,
) -> Result<Bound<'py, PyAny>, Failure<'py>> {
    for (index, column) in columns.iter().enumerate() {
        let object =
            if column.is_null(row) { py.None().into_ptr() } else { column.values.get(py, row) };
        if object.is_null() {
            frame.clear();
            return Err(Failure::Argument(index));
        }
        // SAFETY: a new reference, and the frame was made for this many columns.
        unsafe { frame.push(object) };
    }
    let result = frame.call(function);
    frame.clear();
    result.ok_or(Failure::Raised)
}
// ANCHOR_END: one
