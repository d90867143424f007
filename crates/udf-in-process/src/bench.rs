//! What this lesson times: one query, `SELECT sum(f(a, b)) FROM t`, with `f` run in each way.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type};
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::DataType;
use engine::{Aggregate, BLOCK_ROWS, Options, Plan, Run, ScalarFunction, Table};
use engine_python::drive;
use lesson_kit::bench::{Case, Timing, Work, serve};
use lesson_kit::protocol::CaseInfo;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;

use crate::after::{BatchUdf, OnError, OnNull, ScalarUdf, Signature};
use crate::before::Source;
use crate::before::naive::NaiveUdf;
use crate::before::pooled::PooledUdf;

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

/// The real flights, repeated to `rows`; the rows without an air time (cancelled flights) are left
/// out, since the naive variant fails on NULL.
fn flights(py: Python<'_>, data: &Path, rows: usize) -> PyResult<[ArrayRef; 2]> {
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

fn table(columns: [ArrayRef; 2]) -> PyResult<Arc<Table>> {
    let [a, b] = columns;
    let batch = RecordBatch::try_from_iter([("a", a), ("b", b)]).map_err(runtime)?;
    Table::new(batch.schema(), &[batch]).map_err(runtime)
}

fn runtime(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// The query over one function; the first run's result is what every later one must give.
fn query(table: Arc<Table>, function: Arc<dyn ScalarFunction>) -> PyResult<Work> {
    let mut plan = Plan::new(table);
    let arguments = [plan.column("a").map_err(runtime)?, plan.column("b").map_err(runtime)?];
    let call = plan.call(function, &arguments).map_err(runtime)?;
    plan.aggregate("sum", Aggregate::Sum, Some(call)).map_err(runtime)?;
    let expected = std::sync::OnceLock::<String>::new();
    Ok(Box::new(move |py, threads, iterations| {
        let mut timing = Timing::default();
        let options = Options { threads, block_rows: BLOCK_ROWS };
        for _ in 0..iterations {
            let start = Instant::now();
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
    }))
}

fn c_loop<T: ArrowPrimitiveType>(function: Py<PyAny>, columns: [ArrayRef; 2]) -> Work
where
    T::Native: twin::Number,
{
    Box::new(move |py, threads, iterations| {
        let [a, b] = columns.each_ref().map(|column| column.as_primitive::<T>().values());
        let start = Instant::now();
        for _ in 0..iterations {
            // Detached: its threads attach, and on the GIL-enabled build they take turns.
            let sum = py.detach(|| twin::c_loop::<T::Native>(&function, a, b, threads));
            sum.ok_or_else(|| runtime("the C loop failed"))?;
        }
        Ok(Timing { total: start.elapsed(), first_block: None })
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
    Ok(Box::new(move |py, _, iterations| {
        let start = Instant::now();
        for _ in 0..iterations {
            body.bind(py).call1((&arguments.0, &arguments.1, &arguments.2))?;
        }
        Ok(Timing { total: start.elapsed(), first_block: None })
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
    let source = |function: &Bound<'_, PyAny>| -> PyResult<Source> {
        let code: String =
            py.import("inspect")?.getattr("getsource")?.call1((function,))?.extract()?;
        let own: String = function.getattr("__name__")?.extract()?;
        Ok(Source {
            name: "f".into(),
            text: format!("{code}\nf = {own}\n"),
            parameters: signature.parameters.clone(),
            returns: signature.returns.clone(),
            python: py.import("sys")?.getattr("executable")?.extract()?,
        })
    };
    let mut cases = Vec::new();
    let mut add = |variant: &str, rows: usize, slow: bool, threaded: bool, work: Work| {
        let (variant, workload) = (variant.into(), workload.name.into());
        cases.push(Case { info: CaseInfo { variant, workload, rows, slow, threaded }, work });
    };
    let few = table(workload.head(slow_rows))?;
    let many = table(workload.head(rows))?;
    let naive = NaiveUdf::new(source(&text)?).map_err(runtime)?;
    add("before:naive", slow_rows, true, true, query(few.clone(), Arc::new(naive))?);
    let pooled = PooledUdf::new(source(&plain)?, WAIT, WAIT).map_err(runtime)?;
    add("before:pooled", slow_rows, true, true, query(few, Arc::new(pooled))?);
    let udf =
        ScalarUdf::new(signature.clone(), plain.clone().unbind(), OnNull::Skip, OnError::Propagate);
    add("in-process", rows, false, true, query(many.clone(), Arc::new(udf))?);
    let batch = BatchUdf::new(py, signature, arrays.unbind())?;
    add("batch", rows, false, true, query(many, Arc::new(batch))?);
    let loop_rows = ROWS_LOOP.min(rows);
    add("limit:python-loop", loop_rows, false, false, python_loop(module, workload)?);
    let (function, columns) = (plain.unbind(), workload.head(rows));
    let limit = match workload.kind {
        DataType::Int64 => c_loop::<Int64Type>(function, columns),
        _ => c_loop::<Float64Type>(function, columns),
    };
    add("limit:c-loop", rows, false, true, limit);
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
