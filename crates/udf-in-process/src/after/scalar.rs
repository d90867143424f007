//! The heart of the lesson: a Python function called for each row, on the engine's thread.

use arrow_array::ArrayRef;
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;

use super::Block;
use super::boxing::Boxer;
use super::failure::Failure;
use super::flat;
use super::frame::Frame;
use super::signature::Signature;
use super::unboxing::Unboxer;

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
        let work = Work { udf: self, py, columns: &columns, block, stopped: &stopped };
        match columns[..] {
            // Numbers without nulls, the commonest shape: unrolled (see flat.rs).
            [Boxer::Int64(a, None)] => work.rows(false, |row| flat::call(function, [a[row]])),
            [Boxer::Int64(a, None), Boxer::Int64(b, None)] => {
                work.rows(false, |row| flat::call(function, [a[row], b[row]]))
            }
            [Boxer::Float64(a, None)] => work.rows(false, |row| flat::call(function, [a[row]])),
            [Boxer::Float64(a, None), Boxer::Float64(b, None)] => {
                work.rows(false, |row| flat::call(function, [a[row], b[row]]))
            }
            _ => {
                let mut frame = Frame::new(py, columns.len());
                let nulls = columns.iter().any(|column| column.nulls().is_some());
                work.rows(nulls, |row| one(py, function, &columns, row, &mut frame))
            }
        }
    }
    // ANCHOR_END: call_block
}

/// A block at work.
pub(super) struct Work<'a, 'py, S> {
    pub udf: &'a ScalarUdf,
    pub py: Python<'py>,
    pub columns: &'a [Boxer<'a, 'py>],
    pub block: &'a Block<'a>,
    stopped: &'a S,
}

impl<'py, S: Fn() -> bool> Work<'_, 'py, S> {
    /// Every row: `call` makes the arguments and calls; what becomes of nulls, results and errors is
    /// decided here.
    #[inline(always)]
    fn rows(
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
fn one<'py>(
    py: Python<'py>,
    function: &Bound<'py, PyAny>,
    columns: &[Boxer<'_, 'py>],
    row: usize,
    frame: &mut Frame<'py>,
) -> Result<Bound<'py, PyAny>, Failure<'py>> {
    for (index, column) in columns.iter().enumerate() {
        let object = if column.is_null(row) { py.None().into_ptr() } else { column.get(py, row) };
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
