// SOLUTION work
fn work(todo: Receiver<Job>) {
    while let Ok((function, done)) = todo.recv() {
        thread::spawn(move || {
            Python::attach(|py| done.send(function.call0(py)).unwrap_or(()));
        });
    }
}
// END
