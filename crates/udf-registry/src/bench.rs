//! What this lesson times: look-ups of one name among a hundred, while nobody registers.

use std::collections::HashMap;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;

use lesson_kit::bench::{Case, attached_threads, serve};
use pyo3::prelude::*;

use crate::after::Registry;

const NAMES: usize = 100;

fn case(variant: &str, rows: usize, find: impl Fn(&str) -> u64 + Send + Sync + 'static) -> Case {
    // `rows` look-ups in all, shared out among the threads; each checks what it found.
    let work = Box::new(move |py: Python<'_>, threads: usize, iterations: u64| {
        attached_threads(py, threads, |_| {
            for _ in 0..iterations * (rows / threads) as u64 {
                assert_eq!(find(black_box("f7")), 7);
            }
        })
    });
    Case::new(variant, "look-ups", rows, work)
}

fn all() -> impl Iterator<Item = (String, Arc<u64>)> {
    (0..NAMES as u64).map(|number| (format!("f{number}"), Arc::new(number)))
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
    let registry = Registry::new();
    for number in 0..NAMES as u64 {
        registry.add(py, &format!("f{number}"), |_| Ok(number))?;
    }
    let parking = parking_lot::RwLock::new(all().collect::<HashMap<_, _>>());
    let swap = arc_swap::ArcSwap::from_pointee(all().collect::<HashMap<_, _>>());
    let borrowed = arc_swap::ArcSwap::from_pointee(all().collect::<HashMap<_, _>>());
    let pinned = all().collect::<papaya::HashMap<_, _>>();
    let dash = all().collect::<dashmap::DashMap<_, _>>();
    let papaya = all().collect::<papaya::HashMap<_, _>>();
    // Each gives an owned Arc, as a query needs: it must outlive the name.
    let cases = [
        case("registry", rows, move |name| *registry.find(name).expect("it is there")),
        case("parking_lot", rows, move |name| *parking.read()[name].clone()),
        case("arc-swap", rows, move |name| *swap.load()[name].clone()),
        // Borrowed: no Arc is cloned, so the name must stay for as long as the guard lives.
        case("arc-swap:borrowed", rows, move |name| *borrowed.load()[name]),
        case("papaya:borrowed", rows, move |name| **pinned.pin().get(name).expect("it is there")),
        case("dashmap", rows, move |name| *dash.get(name).expect("it is there").clone()),
        case("papaya", rows, move |name| *papaya.pin().get(name).expect("it is there").clone()),
    ];
    serve(py, &cases, module)
}

/// Adds the lesson's bench to its submodule.
pub fn register(lesson: &Bound<'_, PyModule>) -> PyResult<()> {
    lesson.add_function(wrap_pyfunction!(serve_lesson, lesson)?)
}
