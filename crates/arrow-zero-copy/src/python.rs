//! The lesson as Python sees it: `ungil._ungil.arrow_zero_copy`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{ArrayRef, LargeStringArray};
use memchr::memmem::Finder;
use pyo3::exceptions::PyUnicodeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use pyo3_arrow::PyArray;

use crate::after::{self, BLOCK};
use crate::before::Addresses;

/// Before: `(length of all rows in bytes, rows that contain the needle)`, by addresses.
#[pyfunction]
fn before_read(
    py: Python<'_>,
    validity: usize,
    offsets: usize,
    bytes: usize,
    rows: usize,
    needle: Vec<u8>,
) -> (usize, usize) {
    let column = Addresses { validity, offsets, bytes, rows };
    py.detach(|| (column.length(), column.count(&needle)))
}

/// After: a column taken over.
#[pyclass(frozen, module = "ungil")]
struct Strings(Arc<after::Strings>);

#[pymethods]
impl Strings {
    #[new]
    fn new(column: &Bound<'_, PyAny>) -> PyResult<Self> {
        after::Strings::of(column).map(|strings| Self(Arc::new(strings)))
    }

    fn __len__(&self) -> usize {
        self.0.rows()
    }

    /// The code points of all rows.
    #[pyo3(signature = (threads=2))]
    fn code_points(&self, py: Python<'_>, threads: usize) -> usize {
        self.0.scan(py, threads, after::code_points).into_iter().sum()
    }

    /// How many rows contain `needle`.
    #[pyo3(signature = (needle, threads=2))]
    fn count(&self, py: Python<'_>, needle: &str, threads: usize) -> usize {
        let finder = Finder::new(needle);
        let find = |text: &[u8]| finder.find(text);
        let rows = self.0.scan(py, threads, |segment| after::containing(segment, &find).len());
        rows.into_iter().sum()
    }

    /// The rows that contain `needle`, as a column of their own: Arrow, without an object made.
    #[pyo3(signature = (needle, threads=2))]
    fn containing(&self, py: Python<'_>, needle: &str, threads: usize) -> PyResult<Filtered> {
        let finder = Finder::new(needle);
        let find = |text: &[u8]| finder.find(text);
        let parts = self.0.scan(py, threads, |segment| {
            let rows = after::containing(segment, &find);
            let texts = rows.iter().filter_map(|row| segment.get(*row as usize));
            // The producer promised UTF-8; a result is ours to promise.
            texts
                .map(|text| std::str::from_utf8(text).map(str::to_owned))
                .collect::<Result<Vec<_>, _>>()
        });
        let parts: Result<Vec<Vec<String>>, _> = parts.into_iter().collect();
        let parts = parts.map_err(|error| PyUnicodeError::new_err(error.to_string()))?;
        Ok(Filtered(Arc::new(LargeStringArray::from(parts.concat()))))
    }

    /// The rows as bytes, one after the other; the column is kept until the iterator goes.
    fn __iter__(&self) -> Rows {
        Rows { strings: self.0.clone(), next: AtomicUsize::new(0) }
    }
}

/// Thread-safety: internally synchronised; threads that share it share out the rows.
#[pyclass(frozen, module = "ungil")]
struct Rows {
    strings: Arc<after::Strings>,
    next: AtomicUsize,
}

#[pymethods]
impl Rows {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }
    fn __next__(&self, py: Python<'_>) -> Option<Option<Py<PyBytes>>> {
        // Relaxed: it hands out numbers.
        let row = self.next.fetch_add(1, Ordering::Relaxed);
        let segment = self.strings.segments(row..self.strings.rows().min(row + 1)).next()?;
        Some(segment.get(0).map(|text| PyBytes::new(py, text).unbind()))
    }
}

/// A result: pyarrow, pandas and polars take it as it is.
#[pyclass(frozen, module = "ungil")]
struct Filtered(ArrayRef);

#[pymethods]
impl Filtered {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = PyArray::from_array_ref(self.0.clone()).into_pyobject(py)?;
        array.call_method1("__arrow_c_array__", (requested_schema,))
    }
}

/// Adds the lesson's submodule.
pub fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "arrow_zero_copy")?;
    module.add_class::<Strings>()?;
    module.add_function(wrap_pyfunction!(before_read, &module)?)?;
    module.add("BLOCK", BLOCK)?;
    #[cfg(feature = "bench")]
    crate::bench::register(&module)?;
    parent.add_submodule(&module)
}
