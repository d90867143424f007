// SOLUTION result
            Ok(Some(result.extract().unwrap()))
// END
