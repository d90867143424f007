//! The lesson as Python sees it: `ungil._ungil.eager_init`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::after::{self, Nulls};
use crate::before;

/// Before: how many items are null, looked up lazily by a thread that never attaches.
#[pyfunction]
fn before_scan(py: Python<'_>, objects: Vec<Py<PyAny>>) -> usize {
    py.detach(|| {
        std::thread::scope(|scope| {
            let scan = || objects.iter().filter(|o| before::is_null_lazily(o.as_ptr())).count();
            scope.spawn(scan).join().expect("a scan does not panic")
        })
    })
}

/// After: the rows that are null.
#[pyfunction]
#[pyo3(signature = (objects, threads = 2, block_rows = 65_536))]
fn after_scan(
    objects: &Bound<'_, PyAny>,
    threads: usize,
    block_rows: usize,
) -> PyResult<Vec<usize>> {
    if !(1..=1024).contains(&threads) || block_rows == 0 {
        return Err(PyValueError::new_err("threads must be 1 to 1024 and block_rows at least 1"));
    }
    let nulls = Nulls::resolve(objects.py())?;
    after::null_rows(&nulls, objects, threads, block_rows)
}

/// Adds the lesson's submodule.
pub fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "eager_init")?;
    module.add_function(wrap_pyfunction!(before_scan, &module)?)?;
    module.add_function(wrap_pyfunction!(after_scan, &module)?)?;
    parent.add_submodule(&module)
}
