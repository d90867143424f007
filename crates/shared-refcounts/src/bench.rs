//! What this lesson times: one function in many shapes, from one thread and from two.

use std::path::PathBuf;
use std::sync::Arc;

use lesson_kit::bench::{Case, Work, serve, shared_out};
use pyo3::prelude::*;

use crate::{after, before};

/// What each thread does with so many rows.
type Rows = Arc<dyn Fn(Python<'_>, usize) -> PyResult<()> + Send + Sync>;

/// `rows` calls in all, shared out among the threads.
fn work(rows: usize, each: Rows) -> Work {
    Box::new(move |py, threads, iterations| {
        shared_out(py, threads, iterations, rows, BLOCK.len(), |py, rows| {
            each(py, rows.len()).expect("the functions do not raise");
        })
    })
}

fn calls(function: Bound<'_, PyAny>) -> Rows {
    let function = function.unbind();
    Arc::new(move |py, rows| {
        let function = function.bind(py);
        for row in 0..rows {
            // Beyond the small integers, and fresh: the arguments are no thread's but this one's.
            function.call1((row + 1000, row + 1001))?;
        }
        Ok(())
    })
}

/// Values that are looked at by a function with a constant argument, a block at a time.
static BLOCK: [f64; 2048] = [1.5; 2048];

/// Serves the driver.
#[pyfunction(name = "serve")]
fn serve_lesson(
    module: &Bound<'_, PyAny>,
    rows: usize,
    _slow: usize,
    _data: PathBuf,
) -> PyResult<()> {
    let py = module.py();
    // Enough for the clock; there are many cases.
    let rows = rows >> 3;
    let mut cases = Vec::new();
    let mut add = |variant: &str, workload: &str, each: Rows| {
        cases.push(Case::new(variant, workload, rows, work(rows, each)));
    };
    let kinds = module.py().import("ungil._kinds")?;
    let makers: Vec<(String, Bound<'_, PyAny>)> = kinds
        .getattr("KINDS")?
        .call_method0("items")?
        .try_iter()?
        .map(|item| item?.extract())
        .collect::<PyResult<_>>()?;
    for (kind, make) in makers {
        // Made twice: what was shared once stays so.
        add("before:as-it-is", &kind, calls(make.call0()?));
        let function = make.call0()?;
        after::share(&function)?;
        add("shared", &kind, calls(function));
    }
    // The cures for what no reference count can mend: see the chapter.
    for item in kinds.getattr("CURES")?.call_method0("items")?.try_iter()? {
        let (kind, make): (String, Bound<'_, PyAny>) = item?.extract()?;
        let function = make.call0()?;
        after::share(&function)?;
        add("cured", &kind, calls(function));
    }
    let function = module.getattr("times")?;
    let shared = before::Scaled {
        function: function.clone().unbind(),
        rate: 1.25_f64.into_pyobject(py)?.into_any().unbind(),
    };
    let fresh = after::Scaled::new(function, 1.25)?;
    let scaled: [(&str, Rows); 2] = [
        (
            "before:as-it-is",
            Arc::new(move |py, rows| blocks(rows, |b, out| shared.block(py, b, out))),
        ),
        ("shared", Arc::new(move |py, rows| blocks(rows, |b, out| fresh.block(py, b, out)))),
    ];
    for (variant, each) in scaled {
        add(variant, "constant-argument", each);
    }
    serve(py, &cases, module)
}

fn blocks(
    rows: usize,
    mut block: impl FnMut(&[f64], &mut Vec<f64>) -> PyResult<()>,
) -> PyResult<()> {
    block(&BLOCK[..rows], &mut Vec::with_capacity(rows))
}

/// Adds the lesson's bench to its submodule.
pub fn register(lesson: &Bound<'_, PyModule>) -> PyResult<()> {
    lesson.add_function(wrap_pyfunction!(serve_lesson, lesson)?)
}
