//! The heart of the lesson: a Python function called for each row, on the engine's thread.

use arrow_array::ArrayRef;
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;

use super::Block;
use super::boxing::Boxer;
use super::error::{Site, shown};
use super::frame::Frame;
use super::signature::Signature;
use super::types::name;
use super::unboxing::{Refused, Unboxer};

/// What a null argument does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnNull {
    /// The result is null and the function is not called.
    Skip,
    /// The function gets `None`.
    Pass,
}

/// What an error at a row does: an exception that the function raised, an argument that could not
/// be made, or a result that does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnError {
    /// The query fails and names the row.
    Propagate,
    /// The row's result is null. `KeyboardInterrupt` and `SystemExit` propagate all the same.
    Ignore,
}

/// A Python function over values, with its declaration.
///
/// Thread-safety: immutable; call it from any number of threads. Whether the *function* may run in
/// many threads at once is the user's promise on the free-threaded build, and the GIL's doing on
/// the other.
pub struct ScalarUdf {
    /// The declaration.
    pub signature: Signature,
    function: Py<PyAny>,
    on_null: OnNull,
    on_error: OnError,
}

impl ScalarUdf {
    pub fn new(
        signature: Signature,
        function: Py<PyAny>,
        on_null: OnNull,
        on_error: OnError,
    ) -> Self {
        Self { signature, function, on_null, on_error }
    }

    /// Computes one block on the calling thread, which need not have been attached before.
    ///
    /// `stopped` is asked at every row; once it says true the call returns early with an error that
    /// nobody will look at.
    ///
    /// # Errors
    /// `FunctionError` at the first row that fails; `RuntimeError` once the interpreter shuts down.
    // ANCHOR: call_block
    pub fn call_block(
        &self,
        arguments: &[ArrayRef],
        block: &Block<'_>,
        stopped: impl Fn() -> bool,
    ) -> PyResult<ArrayRef> {
        // Attach once for the block, not for the row. `try_attach` and not `attach`: an engine
        // thread may come here when the interpreter is already being torn down.
        Python::try_attach(|py| self.run(py, arguments, block, stopped)).unwrap_or_else(|| {
            Err(PyRuntimeError::new_err("the Python interpreter is shutting down"))
        })
    }

    fn run(
        &self,
        py: Python<'_>,
        arguments: &[ArrayRef],
        block: &Block<'_>,
        stopped: impl Fn() -> bool,
    ) -> PyResult<ArrayRef> {
        // Whatever does not change from row to row is looked at here.
        let function = self.function.bind(py);
        let columns: Vec<Boxer> =
            arguments.iter().map(|array| Boxer::new(py, array)).collect::<PyResult<_>>()?;
        let nulls = columns.iter().any(|column| column.nulls().is_some());
        let mut results = Unboxer::new(py, &self.signature.returns, block.rows)?;
        let mut frame = Frame::new(py, columns.len());
        for row in 0..block.rows {
            if stopped() {
                return Err(PyRuntimeError::new_err("the query was stopped"));
            }
            if nulls && self.on_null == OnNull::Skip && any_null(&columns, row) {
                results.push_null();
                continue;
            }
            if let Err(failure) = one(py, function, &columns, nulls, row, &mut frame, &mut results)
            {
                let error = self.error(py, failure, &frame, (block.row_number)(row));
                if self.on_error == OnError::Propagate || !error.is_instance_of::<PyException>(py) {
                    return Err(error);
                }
                results.push_null();
            }
            frame.clear();
        }
        Ok(results.finish())
    }
    // ANCHOR_END: call_block

    #[cold]
    #[inline(never)]
    fn error(&self, py: Python<'_>, failure: Failure<'_>, frame: &Frame, row: u64) -> PyErr {
        let site = Site { function: &self.signature.name, row };
        match failure {
            Failure::Argument(index) => {
                let cause = PyErr::fetch(py);
                let text = cause.value(py).to_string();
                let declared = name(&self.signature.types(index + 1).unwrap_or_default()[index]);
                let error = site.wrong(py, &format!("argument {} ({declared}): {text}", index + 1));
                error.set_cause(py, Some(cause));
                error
            }
            Failure::Raised => {
                // Taken off the thread before anything else runs Python.
                let cause = PyErr::fetch(py);
                site.raised(py, cause, &frame.shown())
            }
            Failure::Result(value, Refused::Because(why)) => {
                let declared = name(&self.signature.returns);
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
}

/// Where a row failed. In the first two cases Python's exception is still set.
enum Failure<'py> {
    Argument(usize),
    Raised,
    Result(Bound<'py, PyAny>, Refused),
}

// ANCHOR: one
/// One row: box the arguments, call, unbox the result.
#[inline(always)]
fn one<'py>(
    py: Python<'py>,
    function: &Bound<'py, PyAny>,
    columns: &[Boxer<'_, 'py>],
    nulls: bool,
    row: usize,
    frame: &mut Frame<'py>,
    results: &mut Unboxer<'py>,
) -> Result<(), Failure<'py>> {
    for (index, column) in columns.iter().enumerate() {
        let object =
            if nulls && is_null(column, row) { py.None().into_ptr() } else { column.get(py, row) };
        if object.is_null() {
            return Err(Failure::Argument(index));
        }
        // SAFETY: a new reference, and the frame was made for this many columns.
        unsafe { frame.push(object) };
    }
    let Some(value) = frame.call(function) else { return Err(Failure::Raised) };
    results.push(&value).map_err(|refused| Failure::Result(value, refused))
}
// ANCHOR_END: one

fn is_null(column: &Boxer, row: usize) -> bool {
    column.nulls().is_some_and(|nulls| nulls.is_null(row))
}

fn any_null(columns: &[Boxer], row: usize) -> bool {
    columns.iter().any(|column| is_null(column, row))
}
