//! The thin shell that Python sees: declarations in, functions into the engine's registry.

use std::sync::Arc;
use std::time::Duration;

use engine::ScalarFunction;
use engine_python::{drop_function, register_function};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule};
use shared_refcounts::after::share;

use crate::after::{
    self, BatchUdf, FunctionError, OnError, OnNull, SUPPORTED, ScalarUdf, Signature, UdfType,
};
use crate::before::naive::NaiveUdf;
use crate::before::pooled::PooledUdf;
use crate::before::{CARRIED, ChildError, Source, tsv};

const ON_NULL: [(&str, OnNull); 2] = [("skip", OnNull::Skip), ("pass", OnNull::Pass)];
const ON_ERROR: [(&str, OnError); 2] =
    [("propagate", OnError::Propagate), ("ignore", OnError::Ignore)];

type Types<'py> = Option<Vec<Bound<'py, PyAny>>>;

fn known_options(options: Option<&Bound<'_, PyDict>>, known: &[&str]) -> PyResult<bool> {
    let Some(options) = options else { return Ok(false) };
    for key in options.keys() {
        let key: String = key.extract()?;
        if !known.contains(&key.as_str()) {
            return Err(PyTypeError::new_err(format!(
                "unknown option {key}; known are {}",
                known.join(", ")
            )));
        }
    }
    Ok(options.get_item("replace")?.map(|value| value.extract()).transpose()?.unwrap_or(false))
}

/// Registers `function` under `name`, to be called for each row.
///
/// Options: `on_null` "skip" (default) or "pass", `on_error` "propagate" (default) or "ignore",
/// `replace` to take the place of a function of the same name; queries that are running keep theirs.
#[pyfunction]
#[pyo3(signature = (name, function, arg_types=None, return_type=None, **options))]
fn create_function<'py>(
    name: &str,
    function: Bound<'py, PyAny>,
    arg_types: Types<'py>,
    return_type: Option<Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<()> {
    let replace = known_options(options, &["on_null", "on_error", "replace"])?;
    let on_null = after::choice(options, "on_null", &ON_NULL)?;
    let on_error = after::choice(options, "on_error", &ON_ERROR)?;
    let signature = Signature::read(name, &function, arg_types, return_type)?;
    // Lesson shared-refcounts: what is registered is called from many threads. A callable whose own
    // attributes raise is registered all the same, and may scale less well.
    let _ = share(&function);
    let udf = ScalarUdf::new(signature, function.unbind(), on_null, on_error);
    register_function(Arc::new(udf), replace)
}

/// Registers `function` under `name`, to be called once a block with `pyarrow` arrays.
#[pyfunction]
#[pyo3(signature = (name, function, arg_types=None, return_type=None, **options))]
fn create_batch_function<'py>(
    py: Python<'py>,
    name: &str,
    function: Bound<'py, PyAny>,
    arg_types: Types<'py>,
    return_type: Option<Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<()> {
    let replace = known_options(options, &["replace"])?;
    let signature = Signature::read(name, &function, arg_types, return_type)?;
    register_function(Arc::new(BatchUdf::new(py, signature, function.unbind())?), replace)
}

/// What `func(...)` gives: applied to a function it registers it and gives it back as it is.
#[pyclass(frozen, module = "ungil")]
struct Decorator {
    arg_types: Option<Vec<Py<PyAny>>>,
    return_type: Option<Py<PyAny>>,
    options: Option<Py<PyDict>>,
    batch: bool,
}

#[pymethods]
impl Decorator {
    fn __call__<'py>(&self, function: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = function.py();
        let options = self.options.as_ref().map(|o| o.bind(py).copy()).transpose()?;
        let name = match options.as_ref().map(|o| o.get_item("name")).transpose()?.flatten() {
            Some(name) => name.extract()?,
            None => after::name_of(&function)?,
        };
        if let Some(options) = &options
            && options.contains("name")?
        {
            options.del_item("name")?;
        }
        let types = self.arg_types.as_ref();
        let types = types.map(|types| types.iter().map(|t| t.bind(py).clone()).collect());
        let returns = self.return_type.as_ref().map(|t| t.bind(py).clone());
        let options = options.as_ref();
        if self.batch {
            create_batch_function(py, &name, function.clone(), types, returns, options)?;
        } else {
            create_function(&name, function.clone(), types, returns, options)?;
        }
        Ok(function)
    }
}

fn decorator(
    arg_types: Types<'_>,
    return_type: Option<Bound<'_, PyAny>>,
    options: Option<Bound<'_, PyDict>>,
    batch: bool,
) -> Decorator {
    Decorator {
        arg_types: arg_types.map(|types| types.into_iter().map(Bound::unbind).collect()),
        return_type: return_type.map(Bound::unbind),
        options: options.map(Bound::unbind),
        batch,
    }
}

/// Decorator: registers a function under its own name (or `name=`). Without types, its annotations
/// declare. The function stays callable as it was.
#[pyfunction]
#[pyo3(signature = (arg_types=None, return_type=None, **options))]
fn func(
    arg_types: Types<'_>,
    return_type: Option<Bound<'_, PyAny>>,
    options: Option<Bound<'_, PyDict>>,
) -> Decorator {
    decorator(arg_types, return_type, options, false)
}

/// Decorator: as `func`, for a function that gets whole `pyarrow` arrays, once a block.
#[pyfunction]
#[pyo3(signature = (arg_types=None, return_type=None, **options))]
fn batch_func(
    arg_types: Types<'_>,
    return_type: Option<Bound<'_, PyAny>>,
    options: Option<Bound<'_, PyDict>>,
) -> Decorator {
    decorator(arg_types, return_type, options, true)
}

/// Forgets a function; not an error if there is none. Queries that are running keep it.
#[pyfunction(name = "drop_function")]
fn drop_by_name(name: &str) {
    drop_function(name);
}

fn source<'py>(
    name: &str,
    function: &Bound<'py, PyAny>,
    arg_types: Types<'py>,
    return_type: Option<Bound<'py, PyAny>>,
) -> PyResult<Source> {
    let py = function.py();
    let signature = Signature::read(name, function, arg_types, return_type)?;
    if signature.varargs {
        return Err(PyTypeError::new_err(format!("{name}: *args cannot be sent out of process")));
    }
    for kind in signature.parameters.iter().chain([&signature.returns]) {
        if !CARRIED.contains(kind) {
            let known = CARRIED.iter().map(after::type_name).collect::<Vec<_>>().join(", ");
            return Err(PyTypeError::new_err(format!(
                "{name}: {} does not travel as text; out of process there are {known}",
                after::type_name(kind)
            )));
        }
    }
    let text = py.import("inspect")?.getattr("getsource")?.call1((function,))?;
    let text: String = py.import("textwrap")?.getattr("dedent")?.call1((text,))?.extract()?;
    // The decorators are of this process; the function begins at its `def`.
    let start =
        text.lines().take_while(|line| !line.starts_with("def ")).map(|l| l.len() + 1).sum();
    let Some(text) = text.get(start..).filter(|rest| !rest.is_empty()) else {
        return Err(PyValueError::new_err(format!("{name}: only a `def` has source to send")));
    };
    let own: String = after::name_of(function)?;
    Ok(Source {
        name: name.into(),
        text: if own == name { text.into() } else { format!("{text}\n{name} = {own}\n") },
        parameters: signature.parameters,
        returns: signature.returns,
        python: py.import("sys")?.getattr("executable")?.extract()?,
    })
}

fn from_child(error: ChildError) -> PyErr {
    engine_python::EngineError::new_err(error.0)
}

/// The lesson's naive before: as the engine's old decorator did it, with its faults.
#[pyfunction]
#[pyo3(signature = (name, function, arg_types=None, return_type=None, *, replace=false))]
fn create_naive_function<'py>(
    name: &str,
    function: Bound<'py, PyAny>,
    arg_types: Types<'py>,
    return_type: Option<Bound<'py, PyAny>>,
    replace: bool,
) -> PyResult<()> {
    let source = source(name, &function, arg_types, return_type)?;
    register_function(Arc::new(NaiveUdf::new(source).map_err(from_child)?), replace)
}

/// The lesson's honest before: a pool of workers, an exact codec, limits (in seconds) on each wait.
#[pyfunction]
#[pyo3(signature = (name, function, arg_types=None, return_type=None, *, replace=false,
                    write_timeout=10.0, read_timeout=10.0))]
fn create_pooled_function<'py>(
    name: &str,
    function: Bound<'py, PyAny>,
    arg_types: Types<'py>,
    return_type: Option<Bound<'py, PyAny>>,
    replace: bool,
    write_timeout: f64,
    read_timeout: f64,
) -> PyResult<()> {
    let seconds = |value: f64| {
        Duration::try_from_secs_f64(value)
            .map_err(|_| PyValueError::new_err(format!("{value} s is not a time to wait")))
    };
    let source = source(name, &function, arg_types, return_type)?;
    let udf = PooledUdf::new(source, seconds(write_timeout)?, seconds(read_timeout)?);
    let udf: Arc<dyn ScalarFunction> = Arc::new(udf.map_err(from_child)?);
    register_function(udf, replace)
}

/// The codec's halves, for the property tests: see [`tsv`].
#[pyfunction]
fn escape(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    tsv::escape(value, &mut out);
    out
}

#[pyfunction]
fn unescape(value: &[u8]) -> Vec<u8> {
    tsv::unescape(value)
}

/// Adds the lesson to the extension: what everybody uses at the top, the rest in `udf_in_process`.
pub fn register(top: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = top.py();
    top.add("FunctionError", py.get_type::<FunctionError>())?;
    top.add_class::<UdfType>()?;
    for (name, kind) in SUPPORTED {
        top.add(name.to_uppercase(), UdfType(kind))?;
    }
    top.add_function(wrap_pyfunction!(func, top)?)?;
    top.add_function(wrap_pyfunction!(batch_func, top)?)?;
    top.add_function(wrap_pyfunction!(create_function, top)?)?;
    top.add_function(wrap_pyfunction!(create_batch_function, top)?)?;
    top.add_function(wrap_pyfunction!(drop_by_name, top)?)?;
    let lesson = PyModule::new(py, "udf_in_process")?;
    lesson.add_function(wrap_pyfunction!(create_naive_function, &lesson)?)?;
    lesson.add_function(wrap_pyfunction!(create_pooled_function, &lesson)?)?;
    lesson.add_function(wrap_pyfunction!(escape, &lesson)?)?;
    lesson.add_function(wrap_pyfunction!(unescape, &lesson)?)?;
    #[cfg(feature = "bench")]
    crate::bench::register(&lesson)?;
    top.add_submodule(&lesson)
}
