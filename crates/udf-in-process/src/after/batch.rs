//! The better answer where it is possible: one call a block, with whole Arrow arrays.

use arrow_array::{Array, ArrayRef};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use pyo3_arrow::PyArray;

use super::Block;
use super::error::{Site, shown};
use super::signature::Signature;
use super::types::name;

/// A Python function over arrays: it gets a `pyarrow.Array` for each argument and returns anything
/// that exports `__arrow_c_array__`, of the declared type and of the same length.
///
/// Nulls are the function's business: they are in the arrays. Thread-safety: as [`super::ScalarUdf`].
pub struct BatchUdf {
    /// The declaration.
    pub signature: Signature,
    function: Py<PyAny>,
}

impl BatchUdf {
    /// # Errors
    /// `ModuleNotFoundError` without pyarrow, at registration and not on an engine thread.
    pub fn new(py: Python<'_>, signature: Signature, function: Py<PyAny>) -> PyResult<Self> {
        py.import("pyarrow")?;
        Ok(Self { signature, function })
    }

    /// Computes one block on the calling thread, which need not have been attached before.
    ///
    /// # Errors
    /// `FunctionError`, which names the first row of the block.
    pub fn call_block(&self, arguments: &[ArrayRef], block: &Block<'_>) -> PyResult<ArrayRef> {
        Python::try_attach(|py| self.run(py, arguments, block)).unwrap_or_else(|| {
            Err(PyRuntimeError::new_err("the Python interpreter is shutting down"))
        })
    }

    fn run(&self, py: Python<'_>, arguments: &[ArrayRef], block: &Block<'_>) -> PyResult<ArrayRef> {
        let site = Site { function: &self.signature.name, row: (block.row_number)(0) };
        let arrays = arguments
            .iter()
            .map(|array| {
                let array = PyArray::from_array_ref(array.clone());
                Ok(array.to_pyarrow(py)?.unbind())
            })
            .collect::<PyResult<Vec<_>>>()?;
        let arrays = PyTuple::new(py, arrays)?;
        let given = format!("a block of {} rows", block.rows);
        let value =
            self.function.bind(py).call1(arrays).map_err(|cause| site.raised(py, cause, &given))?;
        let Ok(array) = value.extract::<PyArray>() else {
            let value = shown(&value);
            return Err(site.wrong(py, &format!("returned {value}, which is not an Arrow array")));
        };
        let (array, _) = array.into_inner();
        if array.data_type() != &self.signature.returns {
            let (is, declared) = (array.data_type(), name(&self.signature.returns));
            let text = format!("returned an array of {is}; {declared} is declared, so cast it");
            return Err(site.wrong(py, &text));
        }
        if array.len() != block.rows {
            let text = format!("returned {} rows for a block of {}", array.len(), block.rows);
            return Err(site.wrong(py, &text));
        }
        // It came over the C interface: nothing has looked at its offsets or its UTF-8 yet.
        match array.to_data().validate_full() {
            Ok(()) => Ok(array),
            Err(error) => Err(site.wrong(py, &format!("returned a broken array: {error}"))),
        }
    }
}
