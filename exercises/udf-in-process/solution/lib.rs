// SOLUTION use
use pyo3::exceptions::PyValueError;
// STARTER
// END
use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod exercise {
    use super::*;

    /// Calls `function` for each value of a block that begins at `first_row` of its table.
    #[pyfunction]
    fn map_block(
        function: &Bound<'_, PyAny>,
        values: Vec<Option<i64>>,
        first_row: usize,
    ) -> PyResult<Vec<Option<i64>>> {
        // SOLUTION body
        let py = function.py();
        let refuse = |row: usize, what: String, cause: Option<PyErr>| {
            let error = PyValueError::new_err(format!("row {}: {what}", first_row + row));
            error.set_cause(py, cause);
            error
        };
        let call = |(row, value): (usize, Option<i64>)| {
            let Some(value) = value else { return Ok(None) };
            let result = function.call1((value,)).map_err(|cause| {
                refuse(row, format!("raised for {value}: {cause}"), Some(cause))
            })?;
            match result.extract() {
                Ok(result) => Ok(Some(result)),
                Err(_) => {
                    let what = format!("returned {}, which is no int64", result.repr()?);
                    Err(refuse(row, what, None))
                }
            }
        };
        values.into_iter().enumerate().map(call).collect()
        // STARTER
        // let _ = first_row;
        // let mut out = Vec::new();
        // for value in values {
        //     let result = function.call1((value.unwrap_or(0),))?;
        //     out.push(Some(result.extract()?));
        // }
        // Ok(out)
        // END
    }
}
