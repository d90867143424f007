// SOLUTION work
fn work(todo: Receiver<Job>) {
    Python::attach(|py| {
        while let Ok((function, done)) = py.detach(|| todo.recv()) {
            done.send(function.call0(py)).unwrap_or(());
        }
    });
}
// END
