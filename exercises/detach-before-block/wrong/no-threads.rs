// SOLUTION gather
        let _ = start;
        functions.into_iter().map(|function| function.call0(py)).collect()
// END
