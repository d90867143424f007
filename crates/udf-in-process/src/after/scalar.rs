//! The heart of the lesson: a Python function called for each row, on the engine's thread.

use arrow_array::ArrayRef;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::Block;
use super::boxing::Boxer;
use super::column::Column;
use super::flat;
use super::frame::Frame;
use super::rows::{Work, one};
use super::signature::Signature;

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

/// A column of this type in which no row is null.
macro_rules! no_nulls {
    ($kind:ident($values:ident)) => {
        Column { values: Boxer::$kind($values), nulls: None }
    };
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
    pub(super) on_null: OnNull,
    pub(super) on_error: OnError,
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
        let columns: Vec<Column> =
            arguments.iter().map(|array| Column::new(py, array)).collect::<PyResult<_>>()?;
        let work = Work { udf: self, py, columns: &columns, block, stopped: &stopped };
        match columns[..] {
            // Numbers without nulls, the commonest shape: unrolled (see flat.rs).
            [no_nulls!(Int64(a))] => work.rows(false, |row| flat::call(function, [a[row]])),
            [no_nulls!(Int64(a)), no_nulls!(Int64(b))] => {
                work.rows(false, |row| flat::call(function, [a[row], b[row]]))
            }
            [no_nulls!(Float64(a))] => work.rows(false, |row| flat::call(function, [a[row]])),
            [no_nulls!(Float64(a)), no_nulls!(Float64(b))] => {
                work.rows(false, |row| flat::call(function, [a[row], b[row]]))
            }
            _ => {
                let mut frame = Frame::new(py, columns.len());
                let nulls = columns.iter().any(|column| column.nulls.is_some());
                work.rows(nulls, |row| one(py, function, &columns, row, &mut frame))
            }
        }
    }
    // ANCHOR_END: call_block
}
