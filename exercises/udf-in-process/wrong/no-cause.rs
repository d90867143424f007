// SOLUTION refuse
        let refuse = |row: usize, what: String, _: Option<PyErr>| {
            PyValueError::new_err(format!("row {}: {what}", first_row + row))
        };
// END
