// SOLUTION run
        let _ = (&OWNER, PyRuntimeError::new_err::<&str>);
        py.detach(|| {
            let engine = ENGINE.get_or_init(Engine::start);
            engine.call(move || Python::attach(|py| function.call0(py)))
        })
// END
