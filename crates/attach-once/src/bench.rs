//! What this lesson times: the same calls of a Python function, cut into blocks of 1 to 65,536 rows.

use std::collections::HashMap;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use lesson_kit::bench::{Case, Work, serve, timed};
use pyo3::prelude::*;

use crate::{after, before};

const BLOCKS: [usize; 5] = [1, 16, 256, 4096, 65536];

/// Calls `function(row, row)` for the rows of one block.
fn block(function: &Bound<'_, PyAny>, block: usize, rows: usize) -> PyResult<()> {
    // Numbers that no small-integer cache serves, as real ones are.
    for row in block * rows..(block + 1) * rows {
        black_box(function.call1((row + 1000, row + 1000))?);
    }
    Ok(())
}

/// The pools, by their number of threads, started before the clock.
type Pools<P> = Arc<Mutex<HashMap<usize, Arc<P>>>>;

fn before_work(
    pools: Pools<before::Pool>,
    function: Arc<Py<PyAny>>,
    size: usize,
    rows: usize,
) -> Work {
    timed(move |py, threads| {
        let make = || Arc::new(before::Pool::new(threads));
        let pool = pools.lock().expect("no panic").entry(threads).or_insert_with(make).clone();
        let function = function.clone();
        pool.run(py, rows / size, move |py, task| {
            block(function.bind(py), task, size).expect("numbers add up");
        });
        Ok(())
    })
}

/// In blocks of `size(threads)` rows.
fn after_work(
    pools: Pools<after::Pool>,
    function: Arc<Py<PyAny>>,
    size: impl Fn(usize) -> usize + Send + Sync + 'static,
    rows: usize,
) -> Work {
    timed(move |py, threads| {
        let made = pools.lock().expect("no panic").get(&threads).cloned();
        let pool = match made {
            Some(pool) => pool,
            None => {
                let pool = after::Pool::new(py, threads)?;
                pools.lock().expect("no panic").insert(threads, pool.clone());
                pool
            }
        };
        let (function, size) = (function.clone(), size(threads));
        pool.run(py, rows / size, move |task| {
            Python::attach(|py| block(function.bind(py), task, size))
        })
    })
}

/// Serves the driver.
#[pyfunction(name = "serve")]
fn serve_lesson(
    module: &Bound<'_, PyAny>,
    rows: usize,
    slow: usize,
    _data: PathBuf,
) -> PyResult<()> {
    let function = Arc::new(module.getattr("add")?.unbind());
    let (forgetful, kept) = (Pools::default(), Pools::default());
    let mut cases = Vec::new();
    for size in BLOCKS {
        let workload = format!("blocks-of-{size}");
        let case = |variant: &str, rows, work| Case::new(variant, &workload, rows, work);
        // Where a block costs what its thread state costs, a hundred of them tell.
        let few = (size * 128).min(slow.max(size));
        let work = before_work(forgetful.clone(), function.clone(), size, few);
        cases.push(case("before:state-a-block", few, work));
        let many = (size << 12).min(rows.max(size));
        let work = after_work(kept.clone(), function.clone(), move |_| size, many);
        cases.push(case("pool", many, work));
        if size == BLOCKS[BLOCKS.len() - 1] {
            // One block a thread is as few as can be.
            let work =
                after_work(kept.clone(), function.clone(), move |threads| rows / threads, rows);
            cases.push(case("limit:one-block", rows, work));
        }
    }
    serve(module.py(), &cases, module)
}

/// Adds the lesson's bench to its submodule.
pub fn register(lesson: &Bound<'_, PyModule>) -> PyResult<()> {
    lesson.add_function(wrap_pyfunction!(serve_lesson, lesson)?)
}
