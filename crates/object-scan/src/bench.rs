//! What this lesson times: columns of Python objects read as values.

use std::hint::black_box;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use lesson_kit::bench::{Case, Work, serve, shared_out, timed};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::after::{BLOCK, Snapshot, Value};

/// The columns, and the peers.
const COLUMNS: &std::ffi::CStr = c"
import random
def make(rows):
    draw = random.Random(1)
    ints = [draw.randrange(1 << 24) for _ in range(rows)]
    return {'ints': ints, 'floats': [i / 7 for i in ints],
            'ints-with-nulls': [None if i % 10 == 0 else i for i in ints]}
def arrow(name):
    import pyarrow
    kind = pyarrow.float64() if name == 'floats' else pyarrow.int64()
    return lambda objects: pyarrow.array(objects, kind)
def pandas(objects):
    import pandas
    series = pandas.Series(objects, dtype=object)
    return lambda: pandas.to_numeric(series)
";

/// A value a row out of the list, on each of the threads: `item` reads one.
fn each<T>(
    list: Py<PyList>,
    rows: usize,
    item: impl for<'py> Fn(&Bound<'py, PyList>, usize) -> T + Send + Sync + 'static,
) -> Work {
    Box::new(move |py, threads, iterations| {
        shared_out(py, threads, iterations, rows, BLOCK, |py, rows: Range<usize>| {
            let list = list.bind(py);
            for row in rows {
                black_box(item(list, row));
            }
        })
    })
}

/// # Safety
/// Attached; the list has the row, and nobody changes it.
unsafe fn borrowed(list: &Bound<'_, PyList>, row: usize) -> f64 {
    // SAFETY: as the caller promises.
    unsafe {
        let item = ffi::PyList_GetItem(list.as_ptr(), row as isize);
        ffi::Py_INCREF(item);
        let value = ffi::PyFloat_AsDouble(item);
        ffi::Py_DECREF(item);
        value
    }
}

/// The scan on so many threads; with the snapshot taken anew each time, or once before.
fn scan<T: Value + 'static>(list: Py<PyList>, anew: bool) -> PyResult<Work> {
    let once = Python::attach(|py| Snapshot::of(list.bind(py)))?;
    let once = Arc::new(once);
    Ok(timed(move |py, threads| {
        let column = if anew {
            Snapshot::of(list.bind(py))?.scan::<T>(py, threads)?
        } else {
            once.scan::<T>(py, threads)?
        };
        black_box(column);
        Ok(())
    }))
}

/// Serves the driver.
#[pyfunction(name = "serve")]
fn serve_lesson(
    module: &Bound<'_, PyAny>,
    rows: usize,
    _slow: usize,
    _data: PathBuf,
) -> PyResult<()> {
    let py = module.py();
    let rows = rows.min(4_000_000);
    let columns = PyModule::from_code(py, COLUMNS, c"columns.py", c"columns")?;
    let mut cases = Vec::new();
    for item in columns.getattr("make")?.call1((rows,))?.call_method0("items")?.try_iter()? {
        let (name, list): (String, Bound<'_, PyList>) = item?.extract()?;
        let case = |variant: &str, work: Work| Case::new(variant, &name, rows, work);
        let own = || list.clone().unbind();
        if name != "ints-with-nulls" {
            // SAFETY: attached; nobody changes the list, and every row is a number.
            let read = |list: &Bound<'_, PyList>, row| unsafe { borrowed(list, row) };
            cases.push(case("before:borrowed", each(own(), rows, read)));
        }
        let owned = |list: &Bound<'_, PyList>, row| {
            list.get_item(row).and_then(|o| o.extract::<Option<f64>>())
        };
        cases.push(case("extract", each(own(), rows, owned)));
        let (kept, anew) = if name == "floats" {
            (scan::<f64>(own(), false)?, scan::<f64>(own(), true)?)
        } else {
            (scan::<i64>(own(), false)?, scan::<i64>(own(), true)?)
        };
        cases.push(case("scan", kept));
        cases.push(case("scan:snapshot-too", anew));
        let (arrow, objects) = (columns.getattr("arrow")?.call1((&name,))?.unbind(), own());
        let arrow =
            timed(move |py, _| arrow.call1(py, (&objects,)).map(|made| drop(black_box(made))));
        cases.push(case("peer:pyarrow", arrow).on_one_thread());
        let numeric = columns.getattr("pandas")?.call1((&list,))?.unbind();
        let numeric = timed(move |py, _| numeric.call0(py).map(|made| drop(black_box(made))));
        cases.push(case("peer:pandas", numeric).on_one_thread());
    }
    serve(py, &cases, module)
}

/// Adds the lesson's bench to its submodule.
pub fn register(lesson: &Bound<'_, PyModule>) -> PyResult<()> {
    lesson.add_function(wrap_pyfunction!(serve_lesson, lesson)?)
}
