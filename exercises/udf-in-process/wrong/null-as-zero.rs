// SOLUTION body
        let py = function.py();
        let refuse = |row: usize, what: String, cause: Option<PyErr>| {
            let error = PyValueError::new_err(format!("row {}: {what}", first_row + row));
            error.set_cause(py, cause);
            error
        };
        let call = |(row, value): (usize, Option<i64>)| {
            let value = value.unwrap_or(0);
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
// END
