//! The conversions of results, one type after the other: what is taken, and why the rest is refused.

use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDate, PyDateTime, PyDelta, PyDeltaAccess, PyFloat, PyInt,
    PyString, PyTzInfoAccess,
};

use super::boxing::EPOCH_ORDINAL;
use super::refused::{Refused, because};
use super::unboxing::Unboxer;

impl<'py> Unboxer<'py> {
    /// Appends a value of any supported type; see [`Unboxer::push`].
    #[inline(never)]
    pub(super) fn push_slow(&mut self, value: &Bound<'py, PyAny>) -> Result<(), Refused> {
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
