// SOLUTION gather
        let one = |function| py.detach(|| start(function).join().expect("no panic"));
        functions.into_iter().map(one).collect()
// END
