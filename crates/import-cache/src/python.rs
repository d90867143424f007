//! The lesson as Python sees it: `ungil._ungil.import_cache`.

use pyo3::prelude::*;

use crate::{after, before};

/// Before: a cell without synchronisation.
#[pyclass(frozen, module = "ungil")]
struct Plain(before::Plain);

#[pymethods]
impl Plain {
    #[new]
    fn new(module: String, name: String) -> Self {
        Self(before::Plain::new(module, name))
    }
    fn get(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.0.get(py)
    }
}

/// Before: a once that is waited for while attached.
#[pyclass(frozen, module = "ungil")]
struct AttachedOnce(before::AttachedOnce);

#[pymethods]
impl AttachedOnce {
    #[new]
    fn new(module: String, name: String) -> Self {
        Self(before::AttachedOnce::new(module, name))
    }
    fn get(&self, py: Python<'_>) -> Py<PyAny> {
        self.0.get(py)
    }
}

/// After.
#[pyclass(frozen, module = "ungil")]
struct Imported(after::Imported);

#[pymethods]
impl Imported {
    #[new]
    fn new(module: String, name: String) -> Self {
        Self(after::Imported::named(module.into(), name.into()))
    }
    fn get(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(self.0.get(py)?.to_owned().unbind())
    }
}

/// Adds the lesson's submodule.
pub fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "import_cache")?;
    module.add_class::<Plain>()?;
    module.add_class::<AttachedOnce>()?;
    module.add_class::<Imported>()?;
    #[cfg(feature = "bench")]
    crate::bench::register(&module)?;
    parent.add_submodule(&module)
}
