//! What a measured query is made of; the summary of the port (`whole-port`) measures the same way.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::DataType;
use engine::{Aggregate, Options, Plan, Run, ScalarFunction, Table};
use engine_python::drive;
use lesson_kit::bench::{Timing, Work};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;

use crate::after::Signature;
use crate::before::Source;

/// `RuntimeError` with the text of any other.
pub fn runtime(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// Distance and air time of the real flights, repeated to `rows`; the rows without an air time
/// (cancelled flights) are left out, since the naive variant fails on NULL.
///
/// # Errors
/// Of pyarrow, if `data` is not the folder of the prepared flights.
pub fn flights(py: Python<'_>, data: &Path, rows: usize) -> PyResult<[ArrayRef; 2]> {
    let code = c"
def load(path, rows):
    import pyarrow as pa, pyarrow.feather as feather
    table = feather.read_table(path, columns=['distance', 'air_time']).drop_null()
    table = table.cast(pa.schema([('distance', pa.float64()), ('air_time', pa.float64())]))
    table = pa.concat_tables([table] * (rows // len(table) + 1)).slice(0, rows)
    return table.combine_chunks()
";
    let module = PyModule::from_code(py, code, c"load.py", c"load")?;
    let path = data.join("flights.arrow");
    let table: PyTable = module.getattr("load")?.call1((path, rows))?.extract()?;
    let (batches, _) = table.into_inner();
    Ok([batches[0].column(0).clone(), batches[0].column(1).clone()])
}

/// A table of two columns, `a` and `b`.
///
/// # Errors
/// Of the engine, for a type that it does not have.
pub fn table(columns: [ArrayRef; 2]) -> PyResult<Arc<Table>> {
    let [a, b] = columns;
    let batch = RecordBatch::try_from_iter([("a", a), ("b", b)]).map_err(runtime)?;
    Table::new(batch.schema(), &[batch]).map_err(runtime)
}

/// `SELECT sum(function(a, b)) FROM table`.
///
/// # Errors
/// Of the engine, if the function does not take the columns.
pub fn sum_of(table: Arc<Table>, function: Arc<dyn ScalarFunction>) -> PyResult<Plan> {
    let mut plan = Plan::new(table);
    let arguments = [plan.column("a").map_err(runtime)?, plan.column("b").map_err(runtime)?];
    let call = plan.call(function, &arguments).map_err(runtime)?;
    plan.aggregate("sum", Aggregate::Sum, Some(call)).map_err(runtime)?;
    Ok(plan)
}

/// The sum that a query has to give: that of whichever ran first.
pub type Expected = Arc<OnceLock<String>>;

/// Runs a plan with one sum in it; all runs that share `expected` must agree.
pub fn timed_query(plan: Plan, block_rows: usize, expected: Expected) -> Work {
    Box::new(move |py, threads, iterations| {
        let mut timing = Timing::default();
        for _ in 0..iterations {
            let start = Instant::now();
            let options = Options { threads, block_rows };
            let outcome = drive(py, Run::start(&plan, options).map_err(runtime)?)?;
            timing.total += start.elapsed();
            timing.first_block = Some(outcome.first_block);
            let column = outcome.batches[0].column(0);
            let sum = match column.data_type() {
                DataType::Int64 => column.as_primitive::<Int64Type>().value(0).to_string(),
                _ => format!("{:?}", column.as_primitive::<Float64Type>().value(0)),
            };
            let first = expected.get_or_init(|| sum.clone());
            if *first != sum {
                return Err(runtime(format!("the sum was {first} and is now {sum}")));
            }
        }
        Ok(timing)
    })
}

/// A function as the variants out of process want it: its source, called `signature.name`.
///
/// # Errors
/// Of `inspect`, if it has none.
pub fn source(signature: &Signature, function: &Bound<'_, PyAny>) -> PyResult<Source> {
    let py = function.py();
    let code: String = py.import("inspect")?.getattr("getsource")?.call1((function,))?.extract()?;
    let own: String = function.getattr("__name__")?.extract()?;
    Ok(Source {
        name: signature.name.clone(),
        text: format!("{code}\n{} = {own}\n", signature.name),
        parameters: signature.parameters.clone(),
        returns: signature.returns.clone(),
        python: py.import("sys")?.getattr("executable")?.extract()?,
    })
}
