//! From an Arrow array to Python objects, one row at a time.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::*;
use arrow_schema::{DataType, TimeUnit};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDelta;

/// The values of a column; the type is looked at once a block, not once a row.
pub enum Boxer<'a, 'py> {
    Bool(&'a BooleanArray),
    Int8(&'a Int8Array),
    Int16(&'a Int16Array),
    Int32(&'a Int32Array),
    Int64(&'a [i64]),
    UInt8(&'a UInt8Array),
    UInt16(&'a UInt16Array),
    UInt32(&'a UInt32Array),
    UInt64(&'a UInt64Array),
    Float32(&'a Float32Array),
    Float64(&'a [f64]),
    String(&'a StringArray),
    Bytes(&'a BinaryArray),
    Date(&'a Date32Array, Bound<'py, PyAny>),
    Timestamp(&'a TimestampMicrosecondArray, Bound<'py, PyAny>),
}

/// Ordinal of 1970-01-01, as `date.toordinal` counts.
pub const EPOCH_ORDINAL: i64 = 719_163;

/// `datetime(1970, 1, 1)`.
pub fn epoch<'py>(py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
    py.import("datetime")?.getattr("datetime")?.call1((1970, 1, 1))
}

impl<'a, 'py> Boxer<'a, 'py> {
    /// # Errors
    /// `TypeError` for an array of a type that is not supported.
    pub fn new(py: Python<'py>, array: &'a ArrayRef) -> PyResult<Self> {
        Ok(match array.data_type() {
            DataType::Boolean => Self::Bool(array.as_boolean()),
            DataType::Int8 => Self::Int8(array.as_primitive::<Int8Type>()),
            DataType::Int16 => Self::Int16(array.as_primitive::<Int16Type>()),
            DataType::Int32 => Self::Int32(array.as_primitive::<Int32Type>()),
            // The two commonest as slices: one indirection less for each value.
            DataType::Int64 => Self::Int64(array.as_primitive::<Int64Type>().values()),
            DataType::UInt8 => Self::UInt8(array.as_primitive::<UInt8Type>()),
            DataType::UInt16 => Self::UInt16(array.as_primitive::<UInt16Type>()),
            DataType::UInt32 => Self::UInt32(array.as_primitive::<UInt32Type>()),
            DataType::UInt64 => Self::UInt64(array.as_primitive::<UInt64Type>()),
            DataType::Float32 => Self::Float32(array.as_primitive::<Float32Type>()),
            DataType::Float64 => Self::Float64(array.as_primitive::<Float64Type>().values()),
            DataType::Utf8 => Self::String(array.as_string()),
            DataType::Binary => Self::Bytes(array.as_binary()),
            DataType::Date32 => {
                let date = py.import("datetime")?.getattr("date")?;
                Self::Date(array.as_primitive::<Date32Type>(), date.getattr("fromordinal")?)
            }
            DataType::Timestamp(TimeUnit::Microsecond, None) => {
                Self::Timestamp(array.as_primitive::<TimestampMicrosecondType>(), epoch(py)?)
            }
            other => {
                return Err(PyTypeError::new_err(format!("cannot pass {other} to a function")));
            }
        })
    }

    /// The value at `row`, which is valid, as a new reference; null with Python's exception set.
    ///
    /// A bare pointer, since a `PyResult` for each value is what a row of this loop would mostly do.
    #[inline(always)]
    pub fn get(&self, py: Python<'py>, row: usize) -> *mut ffi::PyObject {
        // SAFETY: attached (`py`), on both builds; each call returns a new reference, or null with
        // an exception set.
        unsafe {
            match self {
                Self::Int64(values) => ffi::PyLong_FromLongLong(values[row]),
                Self::Float64(values) => ffi::PyFloat_FromDouble(values[row]),
                _ => self.get_other(py, row),
            }
        }
    }

    /// The other types, out of line: inlined, they would cost the two above their registers.
    #[inline(never)]
    fn get_other(&self, py: Python<'py>, row: usize) -> *mut ffi::PyObject {
        // SAFETY: as above.
        unsafe {
            match self {
                Self::Int64(..) | Self::Float64(..) => self.get(py, row),
                Self::Bool(array) => ffi::PyBool_FromLong(array.value(row).into()),
                Self::Int8(array) => ffi::PyLong_FromLongLong(array.value(row).into()),
                Self::Int16(array) => ffi::PyLong_FromLongLong(array.value(row).into()),
                Self::Int32(array) => ffi::PyLong_FromLongLong(array.value(row).into()),
                Self::UInt8(array) => ffi::PyLong_FromLongLong(array.value(row).into()),
                Self::UInt16(array) => ffi::PyLong_FromLongLong(array.value(row).into()),
                Self::UInt32(array) => ffi::PyLong_FromLongLong(array.value(row).into()),
                Self::UInt64(array) => ffi::PyLong_FromUnsignedLongLong(array.value(row)),
                Self::Float32(array) => ffi::PyFloat_FromDouble(array.value(row).into()),
                Self::String(array) => {
                    // Not `value()`: bytes that came over the C interface may not be UTF-8, and a
                    // &str of them would be unsound. Python checks them.
                    let bytes = raw(array.value_offsets(), array.value_data(), row);
                    ffi::PyUnicode_DecodeUTF8(
                        bytes.as_ptr().cast(),
                        bytes.len() as ffi::Py_ssize_t,
                        c"strict".as_ptr(),
                    )
                }
                Self::Bytes(array) => {
                    let bytes = array.value(row);
                    ffi::PyBytes_FromStringAndSize(
                        bytes.as_ptr().cast(),
                        bytes.len() as ffi::Py_ssize_t,
                    )
                }
                Self::Date(array, from_ordinal) => {
                    let ordinal = i64::from(array.value(row)) + EPOCH_ORDINAL;
                    or_null(py, from_ordinal.call1((ordinal,)))
                }
                Self::Timestamp(array, epoch) => or_null(py, moment(py, epoch, array.value(row))),
            }
        }
    }
}

fn moment<'py>(
    py: Python<'py>,
    epoch: &Bound<'py, PyAny>,
    micros: i64,
) -> PyResult<Bound<'py, PyAny>> {
    const DAY: i64 = 86_400_000_000;
    let (days, rest) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
    let (seconds, rest) = ((rest / 1_000_000) as i32, (rest % 1_000_000) as i32);
    // i64 microseconds are at most 106,751,991 days.
    epoch.add(PyDelta::new(py, days as i32, seconds, rest, false)?)
}

/// A result in the C API's form.
fn or_null(py: Python<'_>, result: PyResult<Bound<'_, PyAny>>) -> *mut ffi::PyObject {
    match result {
        Ok(object) => object.into_ptr(),
        Err(error) => {
            error.restore(py);
            std::ptr::null_mut()
        }
    }
}

fn raw<'a>(offsets: &[i32], data: &'a [u8], row: usize) -> &'a [u8] {
    &data[offsets[row] as usize..offsets[row + 1] as usize]
}
