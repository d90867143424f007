//! The lesson as Python sees it: `ungil._ungil.call_frame`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::{after, before};

/// Calls `function(i, i)` for `rows` numbers on the calling thread; `how` is "tuple", "unpacked",
/// "kept" (a block of that many rows), "frame" or "fixed".
#[pyfunction]
fn run(function: &Bound<'_, PyAny>, how: &str, rows: usize) -> PyResult<()> {
    let py = function.py();
    // Beyond the small integers, which are never made.
    let boxed = |row: usize| Ok::<_, PyErr>((row + 1000).into_pyobject(py)?.into_any());
    match how {
        "kept" => {
            let rows = (0..rows).map(|row| Ok((boxed(row)?, boxed(row)?)));
            return before::kept(function, rows, |_| Ok(()));
        }
        "frame" => {
            let mut frame = after::Frame::new(py, 2)?;
            for row in 0..rows {
                frame.call(function, |_| boxed(row))?;
            }
            return Ok(());
        }
        _ => {}
    }
    for row in 0..rows {
        let (a, b) = (boxed(row)?, boxed(row)?);
        match how {
            "tuple" => before::with_tuple(function, a, b)?,
            "unpacked" => before::unpacked(function, a, b)?,
            "fixed" => after::call(function, [a, b])?,
            other => {
                let text = format!("{other:?} is none of tuple, unpacked, kept, frame, fixed");
                return Err(PyValueError::new_err(text));
            }
        };
    }
    Ok(())
}

/// One call through the frame with whatever arguments.
#[pyfunction]
#[pyo3(signature = (function, *arguments))]
fn call<'py>(
    function: &Bound<'py, PyAny>,
    arguments: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut frame = after::Frame::new(function.py(), arguments.len())?;
    frame.call(function, |index| Ok(arguments[index].clone()))
}

/// One call with two arguments, as many as the compiler knows of.
#[pyfunction]
fn call2<'py>(
    function: &Bound<'py, PyAny>,
    a: Bound<'py, PyAny>,
    b: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    after::call(function, [a, b])
}

/// Adds the lesson's submodule.
pub fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "call_frame")?;
    module.add_function(wrap_pyfunction!(run, &module)?)?;
    module.add_function(wrap_pyfunction!(call, &module)?)?;
    module.add_function(wrap_pyfunction!(call2, &module)?)?;
    #[cfg(feature = "bench")]
    crate::bench::register(&module)?;
    parent.add_submodule(&module)
}
