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
            Ok(Some(result.extract().unwrap()))
        };
        values.into_iter().enumerate().map(call).collect()
// END
