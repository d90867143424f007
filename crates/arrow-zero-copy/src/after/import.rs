//! The Arrow PyCapsule interface: what a producer hands over, and what is looked at before it is used.

use std::ffi::CStr;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use super::chunk::{Chunk, Layout};

pub(super) fn chunks(object: &Bound<'_, PyAny>) -> PyResult<Vec<Chunk>> {
    if let Some(export) = object.getattr_opt("__arrow_c_stream__")? {
        return stream(&export.call0()?.cast_into()?);
    }
    let Some(export) = object.getattr_opt("__arrow_c_array__")? else {
        let kind = object.get_type().name()?.to_string();
        let text = format!(
            "{kind} exports no Arrow data: it has neither __arrow_c_stream__ nor __arrow_c_array__"
        );
        return Err(PyTypeError::new_err(text));
    };
    let pair = export.call0()?.cast_into::<PyTuple>()?;
    let schema = pair.get_item(0)?.cast_into::<PyCapsule>()?;
    let array = pair.get_item(1)?.cast_into::<PyCapsule>()?;
    // SAFETY: the capsule is named so, and owns a schema that is not released while it is read here.
    let format = unsafe {
        let schema = schema.pointer_checked(Some(c"arrow_schema"))?;
        format_of(schema.cast::<FFI_ArrowSchema>().as_ref())?
    };
    let array = array.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
    // SAFETY: the capsule is named so; from_raw moves the array out and marks the capsule's as
    // released, so that it is released once, by us.
    let array = unsafe { FFI_ArrowArray::from_raw(array.as_ptr()) };
    Ok(vec![chunk(array, format, 0)?])
}

#[derive(Clone, Copy)]
enum Format {
    Small,
    Large,
    View,
}

fn format_of(schema: &FFI_ArrowSchema) -> PyResult<Format> {
    match schema.format() {
        "u" => Ok(Format::Small),
        "U" => Ok(Format::Large),
        "vu" => Ok(Format::View),
        other => Err(PyTypeError::new_err(format!(
            "the column's Arrow format is {other:?}, not a string (\"u\", \"U\" or \"vu\")"
        ))),
    }
}

fn stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<Vec<Chunk>> {
    let raw = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: as for an array above; dropping the stream releases it, also on an error below.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(raw.as_ptr()) };
    let (Some(get_schema), Some(get_next)) = (stream.get_schema, stream.get_next) else {
        return Err(PyValueError::new_err("the Arrow stream was used before"));
    };
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the stream is not released, and both outputs are empty structures.
    if unsafe { get_schema(&raw mut stream, &raw mut schema) } != 0 {
        return Err(failed(&mut stream));
    }
    let format = format_of(&schema)?;
    let mut chunks = Vec::new();
    let mut first = 0;
    loop {
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: as above.
        if unsafe { get_next(&raw mut stream, &raw mut array) } != 0 {
            return Err(failed(&mut stream));
        }
        if array.is_released() {
            return Ok(chunks);
        }
        let rows = array.len();
        chunks.push(chunk(array, format, first)?);
        first += rows;
    }
}

fn failed(stream: &mut FFI_ArrowArrayStream) -> PyErr {
    let text = stream.get_last_error.map(|get| {
        // SAFETY: the stream is not released; the text belongs to it, and is copied.
        unsafe {
            let text = get(stream);
            if text.is_null() {
                "?".into()
            } else {
                CStr::from_ptr(text).to_string_lossy().into_owned()
            }
        }
    });
    PyRuntimeError::new_err(format!("the Arrow stream failed: {}", text.unwrap_or_default()))
}

// ANCHOR: check
/// Looks at everything that could lead outside of a buffer. `first` is the chunk's first row.
fn chunk(array: FFI_ArrowArray, format: Format, first: usize) -> PyResult<Chunk> {
    // Validity, offsets and text; or validity, views, texts, and their lengths.
    if array.num_buffers() < 3 {
        let text = format!("a chunk of strings has {} buffers", array.num_buffers());
        return Err(PyValueError::new_err(text));
    }
    // A validity buffer without a null in it is not worth a look at each row.
    let nulls = array.null_count_opt() != Some(0);
    let validity = if nulls { array.buffer(0) } else { std::ptr::null() };
    let layout = match format {
        Format::Small => Layout::Small { offsets: array.buffer(1).cast(), text: array.buffer(2) },
        Format::Large => Layout::Large { offsets: array.buffer(1).cast(), text: array.buffer(2) },
        Format::View => {
            // The last buffer has the lengths of the ones between.
            Layout::View { views: array.buffer(1).cast(), buffers: array.num_buffers() - 3 }
        }
    };
    // A chunk without rows may come without offsets.
    if !array.is_empty() {
        let (from, to) = (array.offset(), array.offset() + array.len());
        // SAFETY: by the C interface there is an offset more than there are rows, and a view for each.
        let wrong = unsafe {
            match layout {
                Layout::Small { offsets, .. } => backward(offsets, from, to),
                Layout::Large { offsets, .. } => backward(offsets, from, to),
                Layout::View { views, buffers } => outside(&array, views, buffers, from, to),
            }
        };
        if let Some(at) = wrong {
            let row = first + at - from;
            let text = format!("row {row}: its offsets lead outside of the column's text");
            return Err(PyValueError::new_err(text));
        }
    }
    Ok(Chunk { array, layout, validity })
}

/// The first row whose text would begin before 0 or end before it begins.
///
/// # Safety
/// `offsets[from..=to]` can be read, unless null.
unsafe fn backward<T: Copy + PartialOrd + Default>(
    offsets: *const T,
    from: usize,
    to: usize,
) -> Option<usize> {
    if offsets.is_null() {
        return Some(from);
    }
    // SAFETY: as the caller promises.
    let offsets = unsafe { std::slice::from_raw_parts(offsets.add(from), to - from + 1) };
    if offsets[0] < T::default() {
        return Some(from);
    }
    // One pass without a branch for each row; where it fails, a second one that looks for the row.
    let forward = offsets.windows(2).fold(true, |good, pair| good & (pair[0] <= pair[1]));
    (!forward).then(|| from + offsets.windows(2).position(|p| p[0] > p[1]).unwrap_or_default())
}
// ANCHOR_END: check

/// The first row whose view names a buffer that is not there, or leads outside of it.
///
/// # Safety
/// `views[from..to]` can be read, unless null; the last buffer has `buffers` lengths.
unsafe fn outside(
    array: &FFI_ArrowArray,
    views: *const u128,
    buffers: usize,
    from: usize,
    to: usize,
) -> Option<usize> {
    let sizes = array.buffer(array.num_buffers() - 1).cast::<i64>();
    if views.is_null() || (buffers > 0 && sizes.is_null()) {
        return Some(from);
    }
    (from..to).find(|at| {
        // SAFETY: as the caller promises; a view is four numbers of 32 bits.
        unsafe {
            let view = views.add(*at).cast::<u32>();
            let (length, buffer, offset) = (view.read(), view.add(2).read(), view.add(3).read());
            length > 12
                && (buffer as usize >= buffers
                    || i64::from(offset) + i64::from(length) > sizes.add(buffer as usize).read())
        }
    })
}
