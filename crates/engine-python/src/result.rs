//! `ungil.QueryResult`: the rows of a query, as Arrow.

use engine::Outcome;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::PyTable;

/// The rows of a query; pyarrow, pandas and polars take it as it is (`pyarrow.table(result)`).
///
/// Thread-safety: immutable.
#[pyclass(frozen, module = "ungil")]
pub struct QueryResult {
    outcome: Outcome,
}

impl QueryResult {
    pub(crate) fn new(outcome: Outcome) -> Self {
        Self { outcome }
    }

    fn table(&self) -> PyResult<PyTable> {
        PyTable::try_new(self.outcome.batches.clone(), self.outcome.schema.clone())
    }
}

#[pymethods]
impl QueryResult {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let table = self.table()?.into_pyobject(py)?;
        table.call_method1("__arrow_c_stream__", (requested_schema,))
    }

    /// The rows as a `pyarrow.Table`.
    fn to_pyarrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.table()?.into_pyarrow(py)
    }

    /// The value of a result of one row and one column.
    fn scalar<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (rows, columns) = (self.rows(), self.outcome.schema.fields().len());
        if (rows, columns) != (1, 1) {
            return Err(PyValueError::new_err(format!(
                "scalar() needs one row and one column; this result has {rows} and {columns}"
            )));
        }
        let column = self.to_pyarrow(py)?.call_method1("column", (0,))?;
        column.get_item(0)?.call_method0("as_py")
    }

    /// The number of rows.
    #[getter]
    fn rows(&self) -> usize {
        self.outcome.batches.iter().map(|batch| batch.num_rows()).sum()
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.outcome.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Seconds from the start of the query until its first block was computed.
    #[getter]
    fn first_block_seconds(&self) -> f64 {
        self.outcome.first_block.as_secs_f64()
    }

    fn __len__(&self) -> usize {
        self.rows()
    }

    fn __repr__(&self) -> String {
        format!("QueryResult({} rows: {})", self.rows(), self.columns().join(", "))
    }
}
