// SOLUTION null
            let value = value.unwrap_or(0);
// END
