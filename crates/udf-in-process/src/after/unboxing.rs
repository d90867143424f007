//! From Python objects to an Arrow array, one row at a time.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{BinaryBuilder, BooleanBuilder, StringBuilder};
use arrow_array::types::*;
use arrow_schema::{DataType, TimeUnit};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};

use super::boxing::epoch;
use super::numbers::Numbers;
use super::refused::Refused;

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

/// The same expression for every kind of builder.
macro_rules! each_number {
    ($unboxer:expr, $b:ident => $body:expr) => {
        match $unboxer {
            Self::Int8($b) => $body,
            Self::Int16($b) => $body,
            Self::Int32($b) => $body,
            Self::Int64($b) => $body,
            Self::UInt8($b) => $body,
            Self::UInt16($b) => $body,
            Self::UInt32($b) => $body,
            Self::UInt64($b) => $body,
            Self::Float32($b) => $body,
            Self::Float64($b) => $body,
            Self::Date($b) => $body,
            Self::Timestamp($b, _) => $body,
            Self::Bool(_) | Self::String(_) | Self::Bytes(_) => unreachable!("not numbers"),
        }
    };
}
macro_rules! each {
    ($unboxer:expr, $b:ident => $body:expr) => {
        match $unboxer {
            Self::Bool($b) => $body,
            Self::String($b) => $body,
            Self::Bytes($b) => $body,
            other => each_number!(other, $b => $body),
        }
    };
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

    pub fn push_null(&mut self) {
        each!(self, b => b.append_null());
    }

    pub fn finish(self) -> ArrayRef {
        match self {
            // Arrow's builders are emptied, ours are used up.
            Self::Bool(mut b) => Arc::new(b.finish()),
            Self::String(mut b) => Arc::new(b.finish()),
            Self::Bytes(mut b) => Arc::new(b.finish()),
            other => each_number!(other, b => Arc::new(b.finish())),
        }
    }
}
