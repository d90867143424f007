mod cache;

/// What `cache.rs` is made of; the model puts loom's in its place.
mod sync {
    pub use std::sync::atomic;

    pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}

use std::sync::Mutex;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use cache::Published;

#[pymodule(gil_used = false)]
mod exercise {
    use super::*;

    /// A module that is imported at the first look-up. The address stands for a reference that is
    /// never given up.
    #[pyclass(frozen)]
    struct Cached {
        name: String,
        value: Published<usize>,
        making: Mutex<()>,
    }

    #[pymethods]
    impl Cached {
        #[new]
        fn new(name: String) -> Self {
            Self { name, value: Published::new(0), making: Mutex::new(()) }
        }

        fn get(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
            let address = match self.value.get() {
                Some(address) => address,
                None => self.make(py)?,
            };
            // SAFETY: `make` gave the reference away to whoever looks it up; attached.
            let found = unsafe { Bound::from_borrowed_ptr(py, address as *mut ffi::PyObject) };
            Ok(found.unbind())
        }
    }

    impl Cached {
        fn make(&self, py: Python<'_>) -> PyResult<usize> {
            // SOLUTION make
            let _making = self.making.lock_py_attached(py).unwrap();
            if let Some(kept) = self.value.get() {
                return Ok(kept);
            }
            let address = import(py, &self.name)?.into_ptr() as usize;
            self.value.set(address);
            Ok(address)
            // STARTER
            // let address = import(py, &self.name)?.into_ptr() as usize;
            // self.value.set(address);
            // Ok(address)
            // END
        }
    }

    /// What `import` does, without the import lock: a loader of somebody else's.
    fn import(py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        py.import("sys")?.getattr("exercise_loader")?.call1((name,)).map(Bound::unbind)
    }
}
