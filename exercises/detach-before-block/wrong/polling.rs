// SOLUTION gather
        let _ = py;
        let threads: Vec<JoinHandle<Answer>> = functions.into_iter().map(start).collect();
        while !threads.iter().all(|thread| thread.is_finished()) {
            thread::yield_now();
        }
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
// END
