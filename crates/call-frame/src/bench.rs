//! What this lesson times: calls of a Python function, with values of several kinds.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;

use lesson_kit::bench::{Case, Work, serve, shared_out, timed};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::{after, before};

/// Rows of a block: those whose tuples are kept together.
const BLOCK: usize = 8192;

/// Numbers without a pattern, the same in every run; 24 bits, as in lesson udf-in-process.
fn numbers(rows: usize) -> Vec<i64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as i64
    };
    std::iter::repeat_with(next).take(rows).collect()
}

/// A kind of values. The compiler sees through all of it, as it does in an engine that has a loop for
/// each type.
trait Kind: Copy + Send + Sync + 'static {
    const NAME: &'static str;
    /// A function over two such values, in `ungil._workloads`.
    const FUNCTION: &'static str;
    fn boxed(py: Python<'_>, value: i64) -> PyResult<Bound<'_, PyAny>>;
    /// Reads a result, as an engine does, where it is a number.
    fn read(_result: &Bound<'_, PyAny>) -> PyResult<i64> {
        Ok(0)
    }
}

macro_rules! kinds {
    ($($kind:ident $name:literal $function:literal $boxed:expr $(, $read:expr)?;)*) => { $(
        #[derive(Clone, Copy)]
        struct $kind;
        impl Kind for $kind {
            const NAME: &'static str = $name;
            const FUNCTION: &'static str = $function;
            #[inline(always)]
            fn boxed(py: Python<'_>, value: i64) -> PyResult<Bound<'_, PyAny>> {
                $boxed(py, value)
            }
            $(#[inline(always)]
            fn read(result: &Bound<'_, PyAny>) -> PyResult<i64> {
                $read(result)
            })?
        }
    )* };
}
kinds! {
    Ints "ints" "add" |py, value: i64| Ok(value.into_pyobject(py)?.into_any()),
        |result: &Bound<'_, PyAny>| result.extract::<i64>();
    Floats "floats" "add" |py, value| Ok((value as f64).into_pyobject(py)?.into_any()),
        |result: &Bound<'_, PyAny>| Ok(result.extract::<f64>()? as i64);
    Small "small-ints" "second" |py, value: i64| Ok((value & 255).into_pyobject(py)?.into_any());
    Strings "strings" "second"
        |py, value| Ok(PyString::new(py, TEXTS[value as usize & 7]).into_any());
    Nones "none" "second" none;
}
fn none(py: Python<'_>, _: i64) -> PyResult<Bound<'_, PyAny>> {
    Ok(py.None().into_bound(py))
}
const TEXTS: [&str; 8] = [
    "JFK to LAX",
    "LGA to ATL",
    "EWR to ORD",
    "JFK to SFO",
    "LGA to CLT",
    "EWR to BOS",
    "JFK to MCO",
    "LGA to MIA",
];

/// What a thread does with its rows.
type Body = for<'py> fn(&Bound<'py, PyAny>, &[i64]) -> PyResult<i64>;

fn work(function: Py<PyAny>, numbers: Arc<Vec<i64>>, body: Body) -> Work {
    Box::new(move |py, threads, iterations| {
        shared_out(py, threads, iterations, numbers.len(), BLOCK, |py, rows| {
            black_box(body(function.bind(py), &numbers[rows])).expect("no row raises");
        })
    })
}

macro_rules! each {
    ($name:ident, $call:expr) => {
        fn $name<K: Kind>(function: &Bound<'_, PyAny>, numbers: &[i64]) -> PyResult<i64> {
            let py = function.py();
            let mut sum = 0_i64;
            for value in numbers {
                let result = $call(function, K::boxed(py, *value)?, K::boxed(py, *value)?)?;
                sum = sum.wrapping_add(K::read(&result)?);
            }
            Ok(sum)
        }
    };
}
each!(tuple, before::with_tuple);
each!(unpacked, before::unpacked);
each!(call1, call1_two);

each!(fixed, |function, a, b| after::call(function, [a, b]));

fn call1_two<'py>(
    function: &Bound<'py, PyAny>,
    a: Bound<'py, PyAny>,
    b: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    function.call1((a, b))
}

fn kept<K: Kind>(function: &Bound<'_, PyAny>, numbers: &[i64]) -> PyResult<i64> {
    let py = function.py();
    let mut sum = 0_i64;
    let rows = numbers.iter().map(|value| Ok((K::boxed(py, *value)?, K::boxed(py, *value)?)));
    before::kept(function, rows, |result| {
        sum = sum.wrapping_add(K::read(&result)?);
        Ok(())
    })?;
    Ok(sum)
}

fn frame<K: Kind>(function: &Bound<'_, PyAny>, numbers: &[i64]) -> PyResult<i64> {
    let py = function.py();
    let mut frame = after::Frame::new(py, 2)?;
    let mut sum = 0_i64;
    for value in numbers {
        let result = frame.call(function, |_| K::boxed(py, *value))?;
        sum = sum.wrapping_add(K::read(&result)?);
    }
    Ok(sum)
}

fn limit<N: twin::Number + Send + Sync + 'static>(function: Py<PyAny>, numbers: Vec<N>) -> Work {
    timed(move |py, threads| {
        let sum = py.detach(|| twin::c_loop::<N>(&function, &numbers, &numbers, threads));
        sum.map(drop).ok_or_else(|| PyRuntimeError::new_err("the C loop failed"))
    })
}

fn add<K: Kind>(
    module: &Bound<'_, PyAny>,
    numbers: &Arc<Vec<i64>>,
    cases: &mut Vec<Case>,
) -> PyResult<()> {
    let function = module.getattr(K::FUNCTION)?;
    let mut push = |variant: &str, work: Work| {
        cases.push(Case::new(variant, K::NAME, numbers.len(), work));
    };
    let own = |body: Body| work(function.clone().unbind(), numbers.clone(), body);
    push("before:tuple", own(tuple::<K>));
    push("before:kept", own(kept::<K>));
    push("fixed", own(fixed::<K>));
    push("frame", own(frame::<K>));
    match K::NAME {
        "ints" => {
            push("before:unpacked", own(unpacked::<K>));
            push("pyo3:call1", own(call1::<K>));
            push("limit:c-loop", limit(function.clone().unbind(), numbers.to_vec()));
        }
        "floats" => {
            let floats: Vec<f64> = numbers.iter().map(|value| *value as f64).collect();
            push("limit:c-loop", limit(function.clone().unbind(), floats));
        }
        _ => {}
    }
    Ok(())
}

/// Serves the driver.
#[pyfunction(name = "serve")]
fn serve_lesson(
    module: &Bound<'_, PyAny>,
    rows: usize,
    _slow: usize,
    _data: PathBuf,
) -> PyResult<()> {
    // Enough for the clock; there are many cases.
    let numbers = Arc::new(numbers(rows >> 2));
    let mut cases = Vec::new();
    add::<Ints>(module, &numbers, &mut cases)?;
    add::<Floats>(module, &numbers, &mut cases)?;
    add::<Small>(module, &numbers, &mut cases)?;
    add::<Strings>(module, &numbers, &mut cases)?;
    add::<Nones>(module, &numbers, &mut cases)?;
    serve(module.py(), &cases, module)
}

/// Adds the lesson's bench to its submodule.
pub fn register(lesson: &Bound<'_, PyModule>) -> PyResult<()> {
    lesson.add_function(wrap_pyfunction!(serve_lesson, lesson)?)
}
