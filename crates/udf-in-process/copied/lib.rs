//! The pattern alone, outside the workspace: see `cargo xtask test copies`.

#[allow(dead_code, unused_imports)]
mod after;

use after::{Block, KeptState, OnError, OnNull, ScalarUdf, Signature};
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3_arrow::PyArray;

#[pymodule(gil_used = false)]
mod copied {
    use super::*;

    /// Calls the function for each value of an int64 array, on a thread that Python does not know, in
    /// two blocks.
    #[pyfunction]
    fn call(py: Python<'_>, function: Py<PyAny>, values: PyArray) -> PyResult<Vec<PyArray>> {
        let signature = Signature {
            name: "f".into(),
            parameters: vec![DataType::Int64],
            required: 1,
            varargs: false,
            returns: DataType::Int64,
        };
        let udf = ScalarUdf::new(signature, function, OnNull::Skip, OnError::Propagate);
        let (array, _) = values.into_inner();
        let middle = array.len() / 2;
        let halves = [(0, middle), (middle, array.len() - middle)];
        let work = || {
            let _kept = KeptState::new();
            halves
                .iter()
                .map(|&(first, rows)| {
                    let number = |row: usize| (first + row) as u64;
                    let block = Block { rows, row_number: &number };
                    udf.call_block(&[array.slice(first, rows)], &block, || false)
                        .map(PyArray::from_array_ref)
                })
                .collect()
        };
        py.detach(|| std::thread::scope(|scope| scope.spawn(work).join().unwrap()))
    }
}
