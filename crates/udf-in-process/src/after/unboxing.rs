//! From Python objects to an Arrow array, one row at a time.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{BinaryBuilder, BooleanBuilder, StringBuilder};
use arrow_array::types::*;
use arrow_schema::{DataType, TimeUnit};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDate, PyDateTime, PyDelta, PyDeltaAccess, PyFloat, PyInt,
    PyString, PyTzInfoAccess,
};

use super::boxing::{EPOCH_ORDINAL, epoch};
use super::numbers::Numbers;

/// A column of results that grows by a row at a time.
pub enum Unboxer<'py> {
    Bool(BooleanBuilder),
    Int8(Numbers<Int8Type>),
    Int16(Numbers<Int16Type>),
    Int32(Numbers<Int32Type>),
    Int64(Numbers<Int64Type>),
    UInt8(Numbers<UInt8Type>),
    UInt16(Numbers<UInt16Type>),
    UInt32(Numbers<UInt32Type>),
    UInt64(Numbers<UInt64Type>),
    Float32(Numbers<Float32Type>),
    Float64(Numbers<Float64Type>),
    String(StringBuilder),
    Bytes(BinaryBuilder),
    Date(Numbers<Date32Type>),
    Timestamp(Numbers<TimestampMicrosecondType>, Bound<'py, PyAny>),
}

/// Why a value was refused: either a reason to put after the value, or an exception of its own.
pub enum Refused {
    /// For example "does not fit int8".
    Because(String),
    Raised(PyErr),
}

impl From<PyErr> for Refused {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

fn because<T>(text: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::Because(text.into()))
}

impl<'py> Unboxer<'py> {
    /// # Errors
    /// `TypeError` for a type that is not supported.
    pub fn new(py: Python<'py>, kind: &DataType, rows: usize) -> PyResult<Self> {
        Ok(match kind {
            DataType::Boolean => Self::Bool(BooleanBuilder::with_capacity(rows)),
            DataType::Int8 => Self::Int8(Numbers::new(rows)),
            DataType::Int16 => Self::Int16(Numbers::new(rows)),
            DataType::Int32 => Self::Int32(Numbers::new(rows)),
            DataType::Int64 => Self::Int64(Numbers::new(rows)),
            DataType::UInt8 => Self::UInt8(Numbers::new(rows)),
            DataType::UInt16 => Self::UInt16(Numbers::new(rows)),
            DataType::UInt32 => Self::UInt32(Numbers::new(rows)),
            DataType::UInt64 => Self::UInt64(Numbers::new(rows)),
            DataType::Float32 => Self::Float32(Numbers::new(rows)),
            DataType::Float64 => Self::Float64(Numbers::new(rows)),
            DataType::Utf8 => Self::String(StringBuilder::with_capacity(rows, rows * 8)),
            DataType::Binary => Self::Bytes(BinaryBuilder::with_capacity(rows, rows * 8)),
            DataType::Date32 => Self::Date(Numbers::new(rows)),
            DataType::Timestamp(TimeUnit::Microsecond, None) => {
                Self::Timestamp(Numbers::new(rows), epoch(py)?)
            }
            other => {
                return Err(PyTypeError::new_err(format!("a function cannot return {other}")));
            }
        })
    }

    /// Appends a result; `None` becomes a null. Nothing is appended on `Err`.
    #[inline(always)]
    pub fn push(&mut self, value: &Bound<'py, PyAny>) -> Result<(), Refused> {
        // The commonest cases, without a call into the slow path below.
        if let Self::Float64(builder) = self
            && let Ok(number) = value.cast_exact::<PyFloat>()
        {
            builder.append_value(number.value());
            return Ok(());
        }
        if let Self::Int64(builder) = self
            && value.is_exact_instance_of::<PyInt>()
        {
            let mut overflow = 0;
            // SAFETY: attached, and an exact int: no Python code runs and no other error can occur.
            let number =
                unsafe { ffi::PyLong_AsLongLongAndOverflow(value.as_ptr(), &mut overflow) };
            if overflow == 0 {
                builder.append_value(number);
                return Ok(());
            }
        }
        self.push_slow(value)
    }

    #[inline(never)]
    fn push_slow(&mut self, value: &Bound<'py, PyAny>) -> Result<(), Refused> {
        if value.is_none() {
            self.push_null();
            return Ok(());
        }
        macro_rules! integer {
            ($builder:expr, $kind:ty, $name:literal) => {{
                let number = <$kind>::try_from(integer(value, $name)?);
                match number {
                    Ok(number) => $builder.append_value(number),
                    Err(_) => return because(concat!("does not fit ", $name)),
                }
            }};
        }
        match self {
            Self::Bool(builder) => match plain(value)?.cast::<PyBool>() {
                Ok(value) => builder.append_value(value.is_true()),
                Err(_) => return because("is not a bool"),
            },
            Self::Int8(b) => integer!(b, i8, "int8"),
            Self::Int16(b) => integer!(b, i16, "int16"),
            Self::Int32(b) => integer!(b, i32, "int32"),
            Self::Int64(b) => integer!(b, i64, "int64"),
            Self::UInt8(b) => integer!(b, u8, "uint8"),
            Self::UInt16(b) => integer!(b, u16, "uint16"),
            Self::UInt32(b) => integer!(b, u32, "uint32"),
            Self::UInt64(b) => integer!(b, u64, "uint64"),
            Self::Float32(builder) => {
                let number = float(value, "float32")?;
                if number.is_finite() && (number as f32).is_infinite() {
                    return because("does not fit float32");
                }
                builder.append_value(number as f32);
            }
            Self::Float64(builder) => builder.append_value(float(value, "float64")?),
            Self::String(builder) => match value.cast::<PyString>() {
                Ok(text) => match text.to_str() {
                    Ok(text) => builder.append_value(text),
                    Err(_) => return because("has a lone surrogate and so no UTF-8 form"),
                },
                Err(_) => return because("is not a string"),
            },
            Self::Bytes(builder) => {
                if let Ok(bytes) = value.cast::<PyBytes>() {
                    builder.append_value(bytes.as_bytes());
                } else if let Ok(bytes) = value.cast::<PyByteArray>() {
                    // A copy made under the object's own lock: another thread may resize it.
                    builder.append_value(bytes.to_vec());
                } else {
                    return because("is not bytes");
                }
            }
            Self::Date(builder) => {
                let value = plain(value)?;
                if value.is_instance_of::<PyDateTime>() || !value.is_instance_of::<PyDate>() {
                    return because("is not a date");
                }
                let ordinal: i64 = value.call_method0("toordinal")?.extract()?;
                builder.append_value((ordinal - EPOCH_ORDINAL) as i32);
            }
            Self::Timestamp(builder, epoch) => {
                let value = plain(value)?;
                let Ok(moment) = value.cast::<PyDateTime>() else {
                    return because("is not a datetime");
                };
                if moment.get_tzinfo().is_some() {
                    return because("has a time zone, and a timestamp has none");
                }
                let delta = moment.sub(&*epoch)?.cast_into::<PyDelta>().map_err(PyErr::from)?;
                let seconds = i64::from(delta.get_days()) * 86_400 + i64::from(delta.get_seconds());
                builder.append_value(seconds * 1_000_000 + i64::from(delta.get_microseconds()));
            }
        }
        Ok(())
    }

    pub fn push_null(&mut self) {
        match self {
            Self::Bool(b) => b.append_null(),
            Self::Int8(b) => b.append_null(),
            Self::Int16(b) => b.append_null(),
            Self::Int32(b) => b.append_null(),
            Self::Int64(b) => b.append_null(),
            Self::UInt8(b) => b.append_null(),
            Self::UInt16(b) => b.append_null(),
            Self::UInt32(b) => b.append_null(),
            Self::UInt64(b) => b.append_null(),
            Self::Float32(b) => b.append_null(),
            Self::Float64(b) => b.append_null(),
            Self::String(b) => b.append_null(),
            Self::Bytes(b) => b.append_null(),
            Self::Date(b) => b.append_null(),
            Self::Timestamp(b, _) => b.append_null(),
        }
    }

    pub fn finish(self) -> ArrayRef {
        match self {
            Self::Bool(mut b) => Arc::new(b.finish()),
            Self::Int8(b) => Arc::new(b.finish()),
            Self::Int16(b) => Arc::new(b.finish()),
            Self::Int32(b) => Arc::new(b.finish()),
            Self::Int64(b) => Arc::new(b.finish()),
            Self::UInt8(b) => Arc::new(b.finish()),
            Self::UInt16(b) => Arc::new(b.finish()),
            Self::UInt32(b) => Arc::new(b.finish()),
            Self::UInt64(b) => Arc::new(b.finish()),
            Self::Float32(b) => Arc::new(b.finish()),
            Self::Float64(b) => Arc::new(b.finish()),
            Self::String(mut b) => Arc::new(b.finish()),
            Self::Bytes(mut b) => Arc::new(b.finish()),
            Self::Date(b) => Arc::new(b.finish()),
            Self::Timestamp(b, _) => Arc::new(b.finish()),
        }
    }
}

/// A numpy scalar as the Python value that it stands for; everything else as it is.
fn plain<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if value.get_type().module()?.to_str()? == "numpy" && value.hasattr("item")? {
        return value.call_method0("item");
    }
    Ok(value.clone())
}

/// An int, but not a bool, and never a float, not even one without a fraction: a function that is
/// declared to return integers and returns 3.0 has a mistake that rounding would hide.
fn integer(value: &Bound<'_, PyAny>, name: &str) -> Result<i128, Refused> {
    let value = plain(value)?;
    if value.is_instance_of::<PyBool>() || !value.is_instance_of::<PyInt>() {
        return because(format!("is not an {name}"));
    }
    value.extract().or_else(|_| because(format!("does not fit {name}")))
}

/// A float, or an int that a float holds exactly.
fn float(value: &Bound<'_, PyAny>, name: &str) -> Result<f64, Refused> {
    let value = plain(value)?;
    if let Ok(float) = value.cast::<PyFloat>() {
        return Ok(float.value());
    }
    if value.is_instance_of::<PyBool>() || !value.is_instance_of::<PyInt>() {
        return because(format!("is not a {name}"));
    }
    match value.extract::<i128>() {
        Ok(number) if number as f64 as i128 == number => Ok(number as f64),
        _ => because(format!("has no exact {name}")),
    }
}
