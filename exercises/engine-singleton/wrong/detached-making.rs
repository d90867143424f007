// SOLUTION run
        let me = std::process::id();
        let owner = OWNER.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed);
        if owner.is_err_and(|owner| owner != me) {
            return Err(PyRuntimeError::new_err("forked"));
        }
        let engine = py.detach(|| ENGINE.get_or_init(Engine::start));
        engine.call(move || Python::attach(|py| function.call0(py)))
// END
