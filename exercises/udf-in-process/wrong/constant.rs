// SOLUTION result
            Ok(result.extract().ok())
// END
