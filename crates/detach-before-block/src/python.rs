//! The lesson as Python sees it: `ungil._ungil.detach_before_block`.

use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::checked::{CheckedMutex, Table, waits_for};
use crate::{after, before};

/// Starts the thread that is waited for. It attaches, enters `inside`, and runs the owner's Python
/// there; this returns, attached, as soon as it is in.
fn owner(
    py: Python<'_>,
    python: Py<PyAny>,
    inside: impl FnOnce(&mut dyn FnMut()) + Send + 'static,
) -> JoinHandle<()> {
    let entered = Arc::new(Barrier::new(2));
    let mine = entered.clone();
    let thread = Builder::new().name("owner".into()).spawn(move || {
        Python::attach(|py| {
            inside(&mut || {
                mine.wait();
                let _waits = waits_for("its own Python to end");
                python.call0(py).expect("the owner's Python does not raise");
            });
        });
    });
    py.detach(|| entered.wait());
    thread.expect("the system gives a thread")
}

/// Waits for a thread that runs `python`: `wait` is "once", "lock", "channel" or "join".
fn meet(py: Python<'_>, wait: &str, python: Py<PyAny>, detached: bool) -> PyResult<()> {
    let _waits = waits_for(&format!("the {wait}"));
    match wait {
        "once" => {
            let cell = Arc::new(OnceLock::new());
            let shared = cell.clone();
            let thread = owner(py, python, move |run| {
                shared.get_or_init(run);
            });
            if detached {
                after::once(py, &cell)
            } else {
                before::once(&cell)
            }
            after::join(py, thread);
        }
        "lock" => {
            let mutex = Arc::new(Mutex::new(()));
            let shared = mutex.clone();
            let thread = owner(py, python, move |run| {
                let _guard = shared.lock().unwrap_or_else(PoisonError::into_inner);
                run();
            });
            if detached {
                after::lock(py, &mutex)
            } else {
                before::lock(&mutex)
            }
            after::join(py, thread);
        }
        "channel" => {
            let (sender, receiver) = channel();
            let thread = owner(py, python, move |run| {
                run();
                sender.send(()).expect("it is waited for");
            });
            if detached {
                after::receive(py, receiver)
            } else {
                before::receive(&receiver)
            }
            after::join(py, thread);
        }
        "join" => {
            let thread = owner(py, python, |run| run());
            if detached { after::join(py, thread) } else { before::join(thread) }
        }
        other => {
            let text = format!("{other:?} is none of once, lock, channel, join");
            return Err(PyValueError::new_err(text));
        }
    }
    Ok(())
}

/// Before: waits attached.
#[pyfunction(name = "before")]
fn before_wait(py: Python<'_>, wait: &str, python: Py<PyAny>) -> PyResult<()> {
    meet(py, wait, python, false)
}

/// After: waits detached.
#[pyfunction(name = "after")]
fn after_wait(py: Python<'_>, wait: &str, python: Py<PyAny>) -> PyResult<()> {
    meet(py, wait, python, true)
}

/// Prints to standard error who waits for what, after so many seconds. Never attaches.
#[pyfunction]
fn watch(seconds: f64) {
    let wait = Duration::from_secs_f64(seconds);
    std::thread::spawn(move || {
        std::thread::sleep(wait);
        eprint!("{Table}");
    });
}

/// Blocks on a checked lock that another thread has, attached: what the lock says to it, and whether
/// this is a debug build, which alone says something.
#[pyfunction]
fn checked(py: Python<'_>) -> (String, bool) {
    static LOCK: CheckedMutex<()> = CheckedMutex::new("the registry's lock", ());
    let (entered, left) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let (mine, done) = (entered.clone(), left.clone());
    let holder = Builder::new().name("holder".into()).spawn(move || {
        let _guard = LOCK.lock();
        mine.wait();
        done.wait();
    });
    py.detach(|| entered.wait());
    // The panic is the answer; it needs no report of its own.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let told = std::panic::catch_unwind(|| {
        if cfg!(debug_assertions) {
            drop(LOCK.lock());
        }
    });
    std::panic::set_hook(hook);
    py.detach(|| left.wait());
    after::join(py, holder.expect("the system gives a thread"));
    let told = match told {
        Ok(()) => String::new(),
        Err(panic) => panic.downcast_ref::<String>().cloned().unwrap_or_default(),
    };
    (told, cfg!(debug_assertions))
}

/// Adds the lesson's submodule.
pub fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "detach_before_block")?;
    module.add_function(wrap_pyfunction!(before_wait, &module)?)?;
    module.add_function(wrap_pyfunction!(after_wait, &module)?)?;
    module.add_function(wrap_pyfunction!(watch, &module)?)?;
    module.add_function(wrap_pyfunction!(checked, &module)?)?;
    parent.add_submodule(&module)
}
