// SOLUTION work
fn work(todo: Receiver<Job>) {
    while let Ok(first) = todo.recv() {
        Python::attach(|py| {
            for (function, done) in [first].into_iter().chain(todo.try_iter()) {
                done.send(function.call0(py)).unwrap_or(());
            }
        });
    }
}
// END
