// SOLUTION gather
        let threads: Vec<JoinHandle<Answer>> =
            py.detach(|| functions.into_iter().map(start).collect());
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
// END
