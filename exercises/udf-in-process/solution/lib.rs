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
        // SOLUTION refuse
        let py = function.py();
        let refuse = |row: usize, what: String, cause: Option<PyErr>| {
            let error = PyValueError::new_err(format!("row {}: {what}", first_row + row));
            error.set_cause(py, cause);
            error
        };
        // STARTER
        // let _ = first_row;
        // let mut out = Vec::new();
        // for value in values {
        //     let result = function.call1((value.unwrap_or(0),))?;
        //     out.push(Some(result.extract()?));
        // }
        // Ok(out)
        // END
        // SOLUTION row
        let call = |(row, value): (usize, Option<i64>)| {
            // END
            // SOLUTION null
            let Some(value) = value else { return Ok(None) };
            // END
            // SOLUTION call
            let result = function.call1((value,)).map_err(|cause| {
                refuse(row, format!("raised for {value}: {cause}"), Some(cause))
            })?;
            // END
            // SOLUTION result
            match result.extract() {
                Ok(result) => Ok(Some(result)),
                Err(_) => {
                    let what = format!("returned {}, which is no int64", result.repr()?);
                    Err(refuse(row, what, None))
                }
            }
            // END
            // SOLUTION rows
        };
        values.into_iter().enumerate().map(call).collect()
        // END
    }
}
