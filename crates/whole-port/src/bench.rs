//! The steps, timed.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::{ScalarFunction, Table, Type, sql};
use lesson_kit::bench::{Case, serve};
use pyo3::prelude::*;
use shared_refcounts::after::share;
use udf_in_process::after::{BatchUdf, Signature};
use udf_in_process::before::naive::NaiveUdf;
use udf_in_process::before::pooled::PooledUdf;
use udf_in_process::bench::query::{
    Expected, flights, runtime, source, sum_of, table, timed_query,
};

use crate::step::Step;

/// Small enough that what is paid for each block shows.
const BLOCK_ROWS: usize = 4096;

/// What SQL looks names up in: the one table, and no function.
struct Flights(Arc<Table>);

impl sql::Catalog for Flights {
    fn table(&self, _: &str) -> Option<Arc<Table>> {
        Some(self.0.clone())
    }
    fn function(&self, _: &str) -> Option<Arc<dyn ScalarFunction>> {
        None
    }
}

/// Serves the driver.
#[pyfunction(name = "serve")]
fn serve_lesson(
    module: &Bound<'_, PyAny>,
    rows: usize,
    slow: usize,
    data: PathBuf,
) -> PyResult<()> {
    let py = module.py();
    // The step that makes a thread state for each block takes milliseconds a block.
    let rows = rows >> 3;
    let few = table(flights(py, &data, slow >> 4)?)?;
    let many = table(flights(py, &data, rows)?)?;
    let signature = Signature {
        name: "speed".into(),
        parameters: vec![Type::Float64.arrow(); 2],
        required: 2,
        varargs: false,
        returns: Type::Float64.arrow(),
    };
    let source = |name: &str| source(&signature, &module.getattr(name)?);
    let wait = Duration::from_secs(30);
    // A decorator's function, made anew for each step: what was shared once stays so.
    let decorated = || module.getattr("decorated_speed")?.call0();
    let step = |function: Bound<'_, PyAny>, kept, frame| -> Arc<dyn ScalarFunction> {
        Arc::new(Step { function: function.unbind(), kept, frame })
    };
    let last = decorated()?;
    share(&last)?;
    let arrays = module.getattr("speed_arrays")?.unbind();
    let slow_ones: [(&str, Arc<dyn ScalarFunction>); 2] = [
        ("0-subprocess", Arc::new(NaiveUdf::new(source("speed_text")?).map_err(runtime)?)),
        ("1-pooled", Arc::new(PooledUdf::new(source("speed")?, wait, wait).map_err(runtime)?)),
    ];
    let steps: [(&str, Arc<dyn ScalarFunction>); 5] = [
        ("2-in-process", step(decorated()?, false, false)),
        ("3-attach-once", step(decorated()?, true, false)),
        ("4-call-frame", step(decorated()?, true, true)),
        ("5-shared", step(last, true, true)),
        ("6-batch", Arc::new(BatchUdf::new(py, signature.clone(), arrays)?)),
    ];
    // All steps over the same rows give the same sum, to the last bit.
    let (of_few, of_many) = (Expected::default(), Expected::default());
    let timed = |plan, expected: &Expected| timed_query(plan, BLOCK_ROWS, expected.clone());
    let case = |name: &str, rows, work| Case::new(name, "port", rows, work);
    let mut cases = Vec::new();
    for (name, function) in slow_ones {
        let plan = sum_of(few.clone(), function)?;
        cases.push(case(name, few.rows(), timed(plan, &of_few)).slow());
    }
    for (name, function) in steps {
        cases.push(case(name, rows, timed(sum_of(many.clone(), function)?, &of_many)));
    }
    let alone = sql::plan("SELECT sum(a / (b / 60.0)) FROM flights", &Flights(many));
    cases.push(case("7-engine-alone", rows, timed(alone.map_err(runtime)?, &of_many)));
    serve(py, &cases, module)
}

/// Adds the bench to the submodule.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(serve_lesson, module)?)
}
