use std::collections::HashMap;
use std::sync::Mutex;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod exercise {
    use super::*;

    /// Functions by name.
    #[pyclass(frozen)]
    #[derive(Default)]
    struct Registry {
        functions: Mutex<HashMap<String, Py<PyAny>>>,
    }

    #[pymethods]
    impl Registry {
        #[new]
        fn new() -> Self {
            Self::default()
        }

        /// Whether there is a function of this name.
        fn has(&self, name: &str) -> bool {
            self.functions.lock().unwrap().contains_key(name)
        }

        /// The function of this name.
        fn find(&self, py: Python<'_>, name: &str) -> Option<Py<PyAny>> {
            self.functions.lock().unwrap().get(name).map(|found| found.clone_ref(py))
        }

        /// Registers what the factory makes, unless the name is taken; whether it did.
        fn add(&self, name: String, factory: &Bound<'_, PyAny>) -> PyResult<bool> {
            // SOLUTION add
            if self.has(&name) {
                return Ok(false);
            }
            let made = factory.call0()?.unbind();
            let mut functions = self.functions.lock().unwrap();
            if functions.contains_key(&name) {
                // Before `made`, whose end may run Python.
                drop(functions);
                return Ok(false);
            }
            functions.insert(name, made);
            Ok(true)
            // STARTER
            // let mut functions = self.functions.lock().unwrap();
            // if functions.contains_key(&name) {
            //     return Ok(false);
            // }
            // functions.insert(name, factory.call0()?.unbind());
            // Ok(true)
            // END
        }
    }
}
