//! An extension to start from: Rust and C++, one source, a wheel for each kind of build.
//!
//! What makes `gil_used = false` true is said at each item: it is a claim about all of them.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

unsafe extern "C" {
    fn fastlines_count(bytes: *const u8, size: usize) -> usize;
    #[cfg(inline_strings)]
    fn fastlines_lengths(texts: *const Py<PyAny>, count: usize, out: *mut usize) -> usize;
}

/// Counts lines and remembers how many it has seen.
///
/// Thread-safety: internally synchronised. It is frozen, so that two threads never borrow it at once,
/// and its one field is atomic.
#[pyclass(frozen)]
#[derive(Default)]
struct Counter {
    seen: AtomicU64,
}

#[pymethods]
impl Counter {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// The lines of `data`, counted detached: other threads run meanwhile, on both builds.
    fn count(&self, py: Python<'_>, data: &Bound<'_, PyBytes>) -> u64 {
        let bytes = data.as_bytes();
        // SAFETY: `bytes` objects do not change, and `data` keeps this one alive; the same on both
        // builds.
        let lines = py.detach(|| unsafe { fastlines_count(bytes.as_ptr(), bytes.len()) }) as u64;
        // A sum needs no order between its parts, and nothing is published by it.
        self.seen.fetch_add(lines, Ordering::Relaxed);
        lines
    }

    #[getter]
    fn seen(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }
}

/// The UTF-8 bytes of each string of a list.
///
/// Thread-safety: the list may be changed meanwhile; what is measured is a copy of it.
#[pyfunction]
fn utf8_lengths(texts: &Bound<'_, PyList>) -> PyResult<Vec<usize>> {
    let owned: Vec<Py<PyAny>> = texts.iter().map(Bound::unbind).collect();
    lengths(texts.py(), &owned)
}

#[cfg(inline_strings)]
fn lengths(py: Python<'_>, texts: &[Py<PyAny>]) -> PyResult<Vec<usize>> {
    let mut out = vec![0; texts.len()];
    // SAFETY: `Py<PyAny>` is one pointer to an object; `texts` owns each; attached.
    let done = unsafe { fastlines_lengths(texts.as_ptr(), texts.len(), out.as_mut_ptr()) };
    if done == texts.len() { Ok(out) } else { Err(PyErr::fetch(py)) }
}

/// By the stable ABI: a call into the interpreter for each string, which keeps the UTF-8 of one that
/// is not ASCII beside it.
#[cfg(not(inline_strings))]
fn lengths(py: Python<'_>, texts: &[Py<PyAny>]) -> PyResult<Vec<usize>> {
    let mut out = Vec::with_capacity(texts.len());
    for (row, text) in texts.iter().enumerate() {
        let text = text.bind(py);
        let Ok(text) = text.cast::<PyString>() else {
            let of = text.get_type().name()?;
            return Err(PyTypeError::new_err(format!("row {row}: expected str, got {of}")));
        };
        out.push(text.to_str()?.len());
    }
    Ok(out)
}

/// Which of the two was compiled.
#[pyfunction]
fn strings() -> &'static str {
    if cfg!(inline_strings) { "inline" } else { "stable ABI" }
}

// Explicit, although it is PyO3's default from 0.28: somebody audited the items above.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::{Counter, strings, utf8_lengths};
}
