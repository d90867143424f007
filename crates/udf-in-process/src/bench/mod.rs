//! What this lesson times: one query, `SELECT sum(f(a, b)) FROM t`, with `f` run in each way.

pub mod query;

use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type};
use arrow_array::{ArrayRef, Int64Array};
use arrow_schema::DataType;
use engine::{BLOCK_ROWS, ScalarFunction, Table};
use lesson_kit::bench::{Case, Work, serve, timed};
use pyo3::prelude::*;

use crate::after::{BatchUdf, OnError, OnNull, ScalarUdf, Signature};
use crate::before::naive::NaiveUdf;
use crate::before::pooled::PooledUdf;
use query::{Expected, flights, runtime, source, sum_of, table, timed_query};

const WAIT: Duration = Duration::from_secs(30);

/// Two columns, the type of their elements, and the functions over them.
struct Workload {
    name: &'static str,
    columns: [ArrayRef; 2],
    kind: DataType,
    /// For values, for text, for arrays: names in `ungil._workloads`.
    functions: [&'static str; 3],
}

impl Workload {
    fn head(&self, rows: usize) -> [ArrayRef; 2] {
        self.columns.each_ref().map(|column| column.slice(0, rows.min(column.len())))
    }
}

/// Numbers without a pattern, the same in every run: 24 bits, so that no small-integer cache serves
/// them and one digit of a Python int holds them, as it does most numbers of real tables.
fn ints(rows: usize) -> [ArrayRef; 2] {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as i64
    };
    [0, 1].map(|_| Arc::new(Int64Array::from_iter_values((0..rows).map(|_| next()))) as ArrayRef)
}

fn c_loop<T: ArrowPrimitiveType>(function: Py<PyAny>, columns: [ArrayRef; 2]) -> Work
where
    T::Native: twin::Number,
{
    timed(move |py, threads| {
        let [a, b] = columns.each_ref().map(|column| column.as_primitive::<T>().values());
        // Detached: its threads attach, and on the GIL-enabled build they take turns.
        let sum = py.detach(|| twin::c_loop::<T::Native>(&function, a, b, threads));
        sum.map(drop).ok_or_else(|| runtime("the C loop failed"))
    })
}

/// The loop that a Python programmer would write, over lists that exist already.
fn python_loop(module: &Bound<'_, PyAny>, workload: &Workload) -> PyResult<Work> {
    let py = module.py();
    let [left, right] = workload.head(ROWS_LOOP).map(|column| {
        let array = pyo3_arrow::PyArray::from_array_ref(column);
        Ok::<_, PyErr>(array.to_pyarrow(py)?.call_method0("to_pylist")?.unbind())
    });
    let function = module.getattr(workload.functions[0])?.unbind();
    let body = module.getattr("python_loop")?.unbind();
    let arguments = (function, left?, right?);
    Ok(timed(move |py, _| {
        body.bind(py).call1((&arguments.0, &arguments.1, &arguments.2)).map(drop)
    }))
}

/// Rows of an iteration for what is slow, and for the loop over lists.
const ROWS_LOOP: usize = 200_000;

fn cases(
    module: &Bound<'_, PyAny>,
    workload: &Workload,
    rows: usize,
    slow_rows: usize,
) -> PyResult<Vec<Case>> {
    let py = module.py();
    let [plain, text, arrays] = workload.functions.map(|name| module.getattr(name));
    let (plain, text, arrays) = (plain?, text?, arrays?);
    let signature = Signature {
        name: "f".into(),
        parameters: vec![workload.kind.clone(); 2],
        required: 2,
        varargs: false,
        returns: workload.kind.clone(),
    };
    let few = table(workload.head(slow_rows))?;
    let many = table(workload.head(rows))?;
    let of = |table: &Arc<Table>, function: Arc<dyn ScalarFunction>| {
        Ok::<_, PyErr>(timed_query(
            sum_of(table.clone(), function)?,
            BLOCK_ROWS,
            Expected::default(),
        ))
    };
    let naive = NaiveUdf::new(source(&signature, &text)?).map_err(runtime)?;
    let pooled = PooledUdf::new(source(&signature, &plain)?, WAIT, WAIT).map_err(runtime)?;
    let udf =
        ScalarUdf::new(signature.clone(), plain.clone().unbind(), OnNull::Skip, OnError::Propagate);
    let batch = BatchUdf::new(py, signature, arrays.unbind())?;
    let loop_rows = ROWS_LOOP.min(rows);
    let (function, columns) = (plain.unbind(), workload.head(rows));
    let limit = match workload.kind {
        DataType::Int64 => c_loop::<Int64Type>(function, columns),
        _ => c_loop::<Float64Type>(function, columns),
    };
    let case = |variant: &str, rows, work| Case::new(variant, workload.name, rows, work);
    let cases = vec![
        case("before:naive", slow_rows, of(&few, Arc::new(naive))?).slow(),
        case("before:pooled", slow_rows, of(&few, Arc::new(pooled))?).slow(),
        case("in-process", rows, of(&many, Arc::new(udf))?),
        case("batch", rows, of(&many, Arc::new(batch))?),
        case("limit:python-loop", loop_rows, python_loop(module, workload)?).on_one_thread(),
        case("limit:c-loop", rows, limit),
    ];
    Ok(cases)
}

/// Serves the driver: `module` holds the functions, `data` the prepared flights.
#[pyfunction(name = "serve")]
fn serve_lesson(
    module: &Bound<'_, PyAny>,
    rows: usize,
    slow_rows: usize,
    data: std::path::PathBuf,
) -> PyResult<()> {
    let py = module.py();
    let workloads = [
        Workload {
            name: "ints",
            columns: ints(rows),
            kind: DataType::Int64,
            functions: ["add", "add_text", "add_arrays"],
        },
        Workload {
            name: "flights",
            columns: flights(py, &data, rows)?,
            kind: DataType::Float64,
            functions: ["speed", "speed_text", "speed_arrays"],
        },
    ];
    let mut all = Vec::new();
    for workload in &workloads {
        all.extend(cases(module, workload, rows, slow_rows)?);
    }
    serve(py, &all, module)
}

/// Adds the lesson's bench to its submodule.
pub fn register(lesson: &Bound<'_, PyModule>) -> PyResult<()> {
    lesson.add_function(wrap_pyfunction!(serve_lesson, lesson)?)
}
