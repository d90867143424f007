//! The function as the engine calls it, with some of the steps taken.

use std::any::Any;
use std::error::Error as StdError;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array};
use call_frame::{after, before};
use engine::{Call, ScalarFunction, Type};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use udf_in_process::after::KeptState;

/// Thread-safety: immutable.
pub struct Step {
    pub function: Py<PyAny>,
    /// The thread state is kept from block to block.
    pub kept: bool,
    /// The arguments lie in a frame, not in a tuple.
    pub frame: bool,
}

impl Step {
    fn block(&self, py: Python<'_>, a: &[f64], b: &[f64], call: &Call<'_>) -> PyResult<ArrayRef> {
        let function = self.function.bind(py);
        let mut out = Vec::with_capacity(a.len());
        for (a, b) in a.iter().zip(b) {
            if call.stopped() {
                return Err(PyRuntimeError::new_err("the query was stopped"));
            }
            let (a, b) = (a.into_pyobject(py)?.into_any(), b.into_pyobject(py)?.into_any());
            let result = if self.frame {
                after::call(function, [a, b])?
            } else {
                before::with_tuple(function, a, b)?
            };
            out.push(result.extract::<f64>()?);
        }
        Ok(Arc::new(Float64Array::from(out)))
    }
}

impl ScalarFunction for Step {
    fn name(&self) -> &str {
        "speed"
    }
    fn parameters(&self, _: usize) -> Result<Vec<Type>, String> {
        Ok(vec![Type::Float64; 2])
    }
    fn returns(&self) -> Type {
        Type::Float64
    }
    fn enter_thread(&self) -> Box<dyn Any> {
        if self.kept { Box::new(KeptState::new()) } else { Box::new(()) }
    }
    fn call(
        &self,
        arguments: &[ArrayRef],
        call: &Call<'_>,
    ) -> Result<ArrayRef, Box<dyn StdError + Send + Sync>> {
        let [a, b] = [0, 1].map(|index| arguments[index].as_primitive::<Float64Type>().values());
        let done = Python::try_attach(|py| self.block(py, a, b, call));
        let gone = || Err(PyRuntimeError::new_err("the interpreter is shutting down"));
        done.unwrap_or_else(gone).map_err(Into::into)
    }
}
