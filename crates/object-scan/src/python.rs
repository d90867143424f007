//! The lesson as Python sees it: `ungil._ungil.object_scan`.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::after::{Column, Snapshot, Value};
use crate::before;

#[pyfunction]
fn before_list(list: &Bound<'_, PyList>, times: usize) -> i64 {
    (0..times).map(|_| before::sum_list(list)).fold(0, i64::wrapping_add)
}

#[pyfunction]
fn before_dict(dict: &Bound<'_, PyDict>, key: &Bound<'_, PyAny>, times: usize) -> i64 {
    before::sum_dict(dict, key, times)
}

#[pyfunction]
fn before_walk(dict: &Bound<'_, PyDict>, times: usize) -> i64 {
    (0..times).map(|_| before::walk_dict(dict)).fold(0, i64::wrapping_add)
}

fn rows<'py, T: Value + IntoPyObject<'py>>(
    py: Python<'py>,
    column: Column<T>,
) -> PyResult<Vec<Option<Py<PyAny>>>> {
    let row = |(value, valid): (T, bool)| valid.then(|| value.into_py_any(py)).transpose();
    column.values.into_iter().zip(column.valid).map(row).collect()
}

/// The values of a list, an array, a Series, a dictionary's values or an iterable, as `kind`: "int64",
/// "float64", "bool" or "str"; `None` for nulls.
#[pyfunction]
#[pyo3(signature = (container, kind, threads=2))]
fn scan(
    py: Python<'_>,
    container: &Bound<'_, PyAny>,
    kind: &str,
    threads: usize,
) -> PyResult<Vec<Option<Py<PyAny>>>> {
    let snapshot = match container.cast::<PyDict>() {
        Ok(dict) => Snapshot::of_values(dict)?,
        Err(_) => Snapshot::of(container)?,
    };
    match kind {
        "int64" => rows(py, snapshot.scan::<i64>(py, threads)?),
        "float64" => rows(py, snapshot.scan::<f64>(py, threads)?),
        "bool" => rows(py, snapshot.scan::<bool>(py, threads)?),
        "str" => rows(py, snapshot.scan::<String>(py, threads)?),
        other => {
            let text = format!("{other:?} is none of int64, float64, bool, str");
            Err(PyValueError::new_err(text))
        }
    }
}

/// Adds the lesson's submodule.
pub fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "object_scan")?;
    module.add_function(wrap_pyfunction!(before_list, &module)?)?;
    module.add_function(wrap_pyfunction!(before_dict, &module)?)?;
    module.add_function(wrap_pyfunction!(before_walk, &module)?)?;
    module.add_function(wrap_pyfunction!(scan, &module)?)?;
    #[cfg(feature = "bench")]
    crate::bench::register(&module)?;
    parent.add_submodule(&module)
}
