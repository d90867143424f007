//! Declared types: what a user may write, and the Arrow type that it means.

use arrow_schema::{DataType, TimeUnit};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};

const MICROSECONDS: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

/// Every type that a function can take and return, under its name.
pub const SUPPORTED: [(&str, DataType); 15] = [
    ("bool", DataType::Boolean),
    ("int8", DataType::Int8),
    ("int16", DataType::Int16),
    ("int32", DataType::Int32),
    ("int64", DataType::Int64),
    ("uint8", DataType::UInt8),
    ("uint16", DataType::UInt16),
    ("uint32", DataType::UInt32),
    ("uint64", DataType::UInt64),
    ("float32", DataType::Float32),
    ("float64", DataType::Float64),
    ("string", DataType::Utf8),
    ("bytes", DataType::Binary),
    ("date", DataType::Date32),
    ("timestamp", MICROSECONDS),
];

/// A type constant as Python sees it: `ungil.INT64`.
///
/// Thread-safety: immutable.
#[pyclass(frozen, eq, hash, name = "Type", module = "ungil")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct UdfType(pub DataType);

#[pymethods]
impl UdfType {
    /// The name, as error messages and declarations write it.
    #[getter]
    fn name(&self) -> &'static str {
        name(&self.0)
    }

    fn __repr__(&self) -> String {
        name(&self.0).to_uppercase()
    }
}

/// The name of a supported type.
pub fn name(kind: &DataType) -> &'static str {
    SUPPORTED
        .iter()
        .find(|(_, known)| known == kind)
        .map_or("an unsupported type", |(name, _)| name)
}

/// The Arrow type that `annotation` declares: a [`UdfType`], a name, a Python type, a numpy scalar
/// type, or `Optional` of one of these (every argument and result may be null anyway).
///
/// # Errors
/// `TypeError` that names what was given and what may be.
pub fn declared(annotation: &Bound<'_, PyAny>) -> PyResult<DataType> {
    if let Ok(constant) = annotation.cast::<UdfType>() {
        return Ok(constant.get().0.clone());
    }
    if let Ok(text) = annotation.cast::<PyString>() {
        let text = text.to_str()?;
        return by_name(text).ok_or_else(|| unknown(&format!("{text:?}")));
    }
    if let Ok(class) = annotation.cast::<PyType>()
        && let Some(kind) = by_class(class)?
    {
        return Ok(kind);
    }
    // Optional[X] and X | None; `get_args` gives () for everything that is not generic.
    let typing = annotation.py().import("typing")?;
    let arguments = typing.getattr("get_args")?.call1((annotation,))?.cast_into::<PyTuple>()?;
    let none = annotation.py().None().bind(annotation.py()).get_type();
    let mut present = arguments.iter().filter(|argument| !argument.is(&none));
    if arguments.len() == 2
        && let (Some(inner), None) = (present.next(), present.next())
    {
        return declared(&inner);
    }
    Err(unknown(&annotation.repr()?.to_string_lossy()))
}

fn unknown(given: &str) -> PyErr {
    let names = SUPPORTED.map(|(name, _)| name).join(", ");
    PyTypeError::new_err(format!(
        "{given} is not a type that a function can take or return; use one of {names}, the Python \
         type, or Optional of one"
    ))
}

fn by_name(text: &str) -> Option<DataType> {
    let lower = text.trim().to_lowercase();
    let canonical = match lower.as_str() {
        "int" => "int64",
        "float" | "double" => "float64",
        "str" | "utf8" => "string",
        "binary" | "bytearray" => "bytes",
        "boolean" | "bool_" => "bool",
        "datetime" => "timestamp",
        other => other,
    };
    SUPPORTED.iter().find(|(name, _)| *name == canonical).map(|(_, kind)| kind.clone())
}

fn by_class(class: &Bound<'_, PyType>) -> PyResult<Option<DataType>> {
    let module = class.module()?;
    let known = match (module.to_str()?, class.name()?.to_str()?) {
        ("builtins", name @ ("bool" | "int" | "float" | "str" | "bytes" | "bytearray"))
        | ("datetime", name @ ("date" | "datetime")) => by_name(name),
        ("numpy", "str_") => by_name("string"),
        ("numpy", "bytes_") => by_name("bytes"),
        ("numpy", name) if name != "datetime64" => by_name(name),
        _ => None,
    };
    Ok(known)
}
