// SOLUTION answer
        let _ = py;
        Ok(false)
// END
