//! What a row may be, for each type of column.

use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

use super::Refused;

/// A type of column.
pub trait Value: Clone + Default + Send + Sync {
    /// For messages.
    const NAME: &'static str;
    /// Reads an exact instance of the type that is meant; `None` for everything else.
    fn exact(object: &Bound<'_, PyAny>) -> Option<Result<Self, Refused>>;
    /// Reads what else is accepted. May run Python code.
    ///
    /// # Errors
    /// See [`Refused`].
    fn other(object: &Bound<'_, PyAny>) -> Result<Self, Refused>;
}

fn long(object: &Bound<'_, PyAny>) -> Result<i64, Refused> {
    let mut overflow = 0;
    // SAFETY: attached, and an int or a subclass: no Python code runs, no exception is set.
    let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(object.as_ptr(), &mut overflow) };
    if overflow == 0 { Ok(value) } else { Err(Refused::Range) }
}

// ANCHOR: int
impl Value for i64 {
    const NAME: &'static str = "int64";

    #[inline(always)]
    fn exact(object: &Bound<'_, PyAny>) -> Option<Result<Self, Refused>> {
        object.is_exact_instance_of::<PyInt>().then(|| long(object))
    }

    /// Subclasses (IntEnum) and what has `__index__` (NumPy's integers). A bool is an int to Python and
    /// a mistake in a column of them; a float would lose something.
    fn other(object: &Bound<'_, PyAny>) -> Result<Self, Refused> {
        if is_bool(object) {
            return Err(Refused::Kind);
        }
        if object.is_instance_of::<PyInt>() {
            return long(object);
        }
        // SAFETY: attached.
        if unsafe { ffi::PyIndex_Check(object.as_ptr()) } == 0 {
            return Err(Refused::Kind);
        }
        // SAFETY: attached; a new reference, or null with the exception set.
        let index = unsafe {
            Bound::from_owned_ptr_or_err(object.py(), ffi::PyNumber_Index(object.as_ptr()))
        };
        long(&index.map_err(Refused::Raised)?)
    }
}
// ANCHOR_END: int

impl Value for f64 {
    const NAME: &'static str = "float64";

    #[inline(always)]
    fn exact(object: &Bound<'_, PyAny>) -> Option<Result<Self, Refused>> {
        let float = object.cast_exact::<PyFloat>().ok()?.value();
        // A NaN is a null: that is looked at after this.
        (!float.is_nan()).then_some(Ok(float))
    }

    /// Ints, subclasses, and what has `__float__` and is a number (NumPy's).
    fn other(object: &Bound<'_, PyAny>) -> Result<Self, Refused> {
        // SAFETY: attached. A str has no nb_float.
        if is_bool(object) || unsafe { ffi::PyNumber_Check(object.as_ptr()) } == 0 {
            return Err(Refused::Kind);
        }
        object.extract().map_err(|error: PyErr| {
            let overflow = error.is_instance_of::<PyOverflowError>(object.py());
            if overflow { Refused::Range } else { Refused::Raised(error) }
        })
    }
}

impl Value for bool {
    const NAME: &'static str = "bool";

    #[inline(always)]
    fn exact(object: &Bound<'_, PyAny>) -> Option<Result<Self, Refused>> {
        object.cast_exact::<PyBool>().ok().map(|value| Ok(value.is_true()))
    }

    /// NumPy's bool; no number, and no truth of anything else.
    fn other(object: &Bound<'_, PyAny>) -> Result<Self, Refused> {
        if is_bool(object) {
            object.is_truthy().map_err(Refused::Raised)
        } else {
            Err(Refused::Kind)
        }
    }
}

impl Value for String {
    const NAME: &'static str = "str";

    /// Lesson string-fast-path reads strings faster, and without leaving UTF-8 beside them.
    fn exact(object: &Bound<'_, PyAny>) -> Option<Result<Self, Refused>> {
        object.is_exact_instance_of::<PyString>().then(|| text(object))
    }

    /// Subclasses by their characters. Anything else by its `__str__`, which may do what it likes:
    /// the snapshot's references are not the container's.
    fn other(object: &Bound<'_, PyAny>) -> Result<Self, Refused> {
        if object.is_instance_of::<PyString>() {
            return text(object);
        }
        object.str().map_err(Refused::Raised).and_then(|made| text(made.as_any()))
    }
}

fn text(object: &Bound<'_, PyAny>) -> Result<String, Refused> {
    let text = object.cast::<PyString>().map_err(|_| Refused::Kind)?;
    text.to_str().map(str::to_owned).map_err(Refused::Raised)
}

/// A bool, or NumPy's.
fn is_bool(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyBool>()
        || object.get_type().name().is_ok_and(|name| name == "bool" || name == "bool_")
}

/// The objects that mean "no value". Thread-safety: immutable.
pub struct Nulls {
    nat: Option<Py<PyAny>>,
    na: Option<Py<PyAny>>,
}

impl Nulls {
    /// Resolved once, before the threads start (lesson eager-init). Whoever has not imported pandas
    /// has no `NaT` to be found.
    ///
    /// # Errors
    /// None in practice: those of `sys.modules`.
    pub fn known(py: Python<'_>) -> PyResult<Self> {
        let modules = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
        let pandas = modules.get_item("pandas")?;
        let find = |name: &str| -> PyResult<Option<Py<PyAny>>> {
            let Some(pandas) = &pandas else { return Ok(None) };
            // A pandas that is just being imported may not have it yet.
            Ok(pandas.getattr_opt(name)?.map(Bound::unbind))
        };
        Ok(Self { nat: find("NaT")?, na: find("NA")? })
    }

    /// `None`, `NaT`, `NA`, or a float that is NaN.
    pub fn contains(&self, object: &Bound<'_, PyAny>) -> bool {
        let is = |known: &Option<Py<PyAny>>| known.as_ref().is_some_and(|known| object.is(known));
        object.is_none()
            || is(&self.nat)
            || is(&self.na)
            || object.cast::<PyFloat>().is_ok_and(|float| float.value().is_nan())
    }
}
