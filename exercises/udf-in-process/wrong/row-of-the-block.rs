// SOLUTION refuse
        let py = function.py();
        let refuse = |row: usize, what: String, cause: Option<PyErr>| {
            let _ = first_row;
            let error = PyValueError::new_err(format!("row {row}: {what}"));
            error.set_cause(py, cause);
            error
        };
// END
