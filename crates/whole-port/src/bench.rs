//! The steps, timed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use engine::{Aggregate, Options, Plan, Run, ScalarFunction, Table, Type, sql};
use engine_python::drive;
use lesson_kit::bench::{Case, Timing, Work, serve};
use lesson_kit::protocol::CaseInfo;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use shared_refcounts::after::share;
use udf_in_process::after::{BatchUdf, Signature};
use udf_in_process::before::Source;
use udf_in_process::before::naive::NaiveUdf;
use udf_in_process::before::pooled::PooledUdf;

use crate::step::Step;

/// Small enough that what is paid for each block shows.
const BLOCK_ROWS: usize = 4096;

const LOAD: &std::ffi::CStr = c"
import pyarrow as pa, pyarrow.feather as feather
def load(path, rows):
    table = feather.read_table(path, columns=['distance', 'air_time']).drop_null()
    table = table.cast(pa.schema([('distance', pa.float64()), ('air_time', pa.float64())]))
    return pa.concat_tables([table] * (rows // len(table) + 1)).slice(0, rows).combine_chunks()
";

fn runtime(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

fn table(py: Python<'_>, data: &Path, rows: usize) -> PyResult<Arc<Table>> {
    let module = PyModule::from_code(py, LOAD, c"load.py", c"load")?;
    let flights = module.getattr("load")?.call1((data.join("flights.arrow"), rows))?;
    let (batches, schema) = flights.extract::<PyTable>()?.into_inner();
    Table::new(schema, &batches).map_err(runtime)
}

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

fn with_function(table: &Arc<Table>, function: Arc<dyn ScalarFunction>) -> PyResult<Plan> {
    let mut plan = Plan::new(table.clone());
    let names = ["distance", "air_time"].map(|name| plan.column(name));
    let [a, b] = names;
    let call = plan.call(function, &[a.map_err(runtime)?, b.map_err(runtime)?]).map_err(runtime)?;
    plan.aggregate("sum", Aggregate::Sum, Some(call)).map_err(runtime)?;
    Ok(plan)
}

fn query(plan: Plan, expected: Arc<OnceLock<f64>>) -> Work {
    Box::new(move |py, threads, iterations| {
        let mut timing = Timing::default();
        let options = Options { threads, block_rows: BLOCK_ROWS };
        for _ in 0..iterations {
            let start = Instant::now();
            let outcome = drive(py, Run::start(&plan, options).map_err(runtime)?)?;
            timing.total += start.elapsed();
            timing.first_block = Some(outcome.first_block);
            let sum = outcome.batches[0].column(0).as_primitive::<Float64Type>().value(0);
            let first = *expected.get_or_init(|| sum);
            // The engine divides in another order than the function does.
            if (first - sum).abs() > 1e-9 * first.abs() {
                return Err(runtime(format!("the sum was {first} and is now {sum}")));
            }
        }
        Ok(timing)
    })
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
    let (many, few) = (table(py, &data, rows)?, table(py, &data, slow >> 4)?);
    let signature = Signature {
        name: "speed".into(),
        parameters: vec![Type::Float64.arrow(); 2],
        required: 2,
        varargs: false,
        returns: Type::Float64.arrow(),
    };
    let source = |name: &str| -> PyResult<Source> {
        let function = module.getattr(name)?;
        let code: String =
            py.import("inspect")?.getattr("getsource")?.call1((function,))?.extract()?;
        Ok(Source {
            name: "speed".into(),
            text: format!("{code}\nspeed = {name}\n"),
            parameters: signature.parameters.clone(),
            returns: signature.returns.clone(),
            python: py.import("sys")?.getattr("executable")?.extract()?,
        })
    };
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
    let mut cases = Vec::new();
    let mut add = |variant: &str, rows: usize, slow: bool, work: Work| {
        let (variant, workload) = (variant.into(), "port".into());
        cases.push(Case { info: CaseInfo { variant, workload, rows, slow, threaded: true }, work });
    };
    let (of_few, of_many) = (Arc::default(), Arc::default());
    for (name, function) in slow_ones {
        add(name, few.rows(), true, query(with_function(&few, function)?, Arc::clone(&of_few)));
    }
    for (name, function) in steps {
        add(name, rows, false, query(with_function(&many, function)?, Arc::clone(&of_many)));
    }
    let alone = sql::plan("SELECT sum(distance / (air_time / 60.0)) FROM flights", &Flights(many));
    add("7-engine-alone", rows, false, query(alone.map_err(runtime)?, of_many));
    serve(py, &cases, module)
}

/// Adds the bench to the submodule.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(serve_lesson, module)?)
}
