//! The lesson as Python sees it: `ungil._ungil.udf_registry`. What is registered is what a callable
//! makes, which stands for `inspect.signature` and all else that making a function runs.

use pyo3::prelude::*;

use crate::{after, before};

macro_rules! before {
    ($name:ident, $doc:literal) => {
        #[doc = $doc]
        #[pyclass(frozen, module = "ungil")]
        #[derive(Default)]
        struct $name(before::$name<Py<PyAny>>);

        #[pymethods]
        impl $name {
            #[new]
            fn new() -> Self {
                Self::default()
            }
            fn add(&self, name: &str, make: &Bound<'_, PyAny>) -> PyResult<bool> {
                self.0.add(name, || Ok(make.call0()?.unbind()))
            }
        }
    };
}

before!(CheckThenAct, "Before: looks, then acts.");
before!(UnderLock, "Before: Python under the lock.");

/// After.
#[pyclass(frozen, module = "ungil")]
#[derive(Default)]
struct Registry(after::Registry<Py<PyAny>>);

#[pymethods]
impl Registry {
    #[new]
    fn new() -> Self {
        Self::default()
    }
    fn add(&self, py: Python<'_>, name: &str, make: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.add(py, name, |_| Ok(make.call0()?.unbind())).map(drop)
    }
    fn find(&self, py: Python<'_>, name: &str) -> Option<Py<PyAny>> {
        self.0.find(name).map(|function| function.clone_ref(py))
    }
    fn remove(&self, py: Python<'_>, name: &str) -> bool {
        self.0.remove(py, name).is_some()
    }
    /// Looks the function up, calls it detached from the registry: what a running query does.
    fn run(&self, py: Python<'_>, name: &str) -> PyResult<Option<Py<PyAny>>> {
        let Some(function) = self.0.find(name) else { return Ok(None) };
        function.call0(py).map(Some)
    }
}

/// Adds the lesson's submodule.
pub fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "udf_registry")?;
    module.add_class::<CheckThenAct>()?;
    module.add_class::<UnderLock>()?;
    module.add_class::<Registry>()?;
    #[cfg(feature = "bench")]
    crate::bench::register(&module)?;
    parent.add_submodule(&module)
}
