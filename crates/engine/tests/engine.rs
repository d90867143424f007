//! The engine from Rust: functions, errors and cancellation, without Python.

use std::error::Error as StdError;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, LargeStringArray, RecordBatch};
use engine::sql::Catalog;
use engine::{Call, Error, Options, Run, ScalarFunction, Table, Type, sql};

const OPTIONS: Options = Options { threads: 4, block_rows: 10 };

type Body = dyn Fn(&[ArrayRef], &Call<'_>) -> Result<ArrayRef, Box<dyn StdError + Send + Sync>>
    + Send
    + Sync;

struct Fn1 {
    parameter: Type,
    returns: Type,
    body: Box<Body>,
}

impl ScalarFunction for Fn1 {
    fn name(&self) -> &str {
        "f"
    }
    fn parameters(&self, count: usize) -> Result<Vec<Type>, String> {
        if count == 1 {
            Ok(vec![self.parameter])
        } else {
            Err(format!("f takes 1 and got {count}"))
        }
    }
    fn returns(&self) -> Type {
        self.returns
    }
    fn call(
        &self,
        arguments: &[ArrayRef],
        call: &Call<'_>,
    ) -> Result<ArrayRef, Box<dyn StdError + Send + Sync>> {
        (self.body)(arguments, call)
    }
}

struct World {
    table: Arc<Table>,
    function: Arc<Fn1>,
}

impl Catalog for World {
    fn table(&self, name: &str) -> Option<Arc<Table>> {
        (name == "t").then(|| self.table.clone())
    }
    fn function(&self, name: &str) -> Option<Arc<dyn ScalarFunction>> {
        (name == "f").then(|| self.function.clone() as _)
    }
}

fn world(body: Box<Body>) -> World {
    let a: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
    let s: ArrayRef =
        Arc::new(LargeStringArray::from_iter_values((0..1000).map(|i| i.to_string())));
    let batch = RecordBatch::try_from_iter([("a", a), ("s", s)]).unwrap();
    let function = Fn1 { parameter: Type::Int64, returns: Type::Int64, body };
    World { table: Table::new(batch.schema(), &[batch]).unwrap(), function: Arc::new(function) }
}

fn run(world: &World, query: &str) -> engine::Result<Vec<RecordBatch>> {
    let plan = sql::plan(query, world)?;
    Ok(Run::start(&plan, OPTIONS)?.finish()?.batches)
}

#[derive(Debug)]
struct Mine(u64);
impl std::fmt::Display for Mine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "mine at {}", self.0)
    }
}
impl StdError for Mine {}

#[test]
fn the_error_object_of_a_function_comes_back_and_is_that_of_the_first_block() {
    let world = world(Box::new(|_, call| Err(Box::new(Mine(call.row_number(0))))));
    for _ in 0..50 {
        let Err(Error::Function(error)) = run(&world, "SELECT sum(f(a)) FROM t WHERE a % 2 = 1")
        else {
            panic!("expected the function's error");
        };
        // Row 1 is the first that passes the filter, in the first block of ten.
        assert_eq!(error.downcast::<Mine>().unwrap().0, 1);
    }
}

#[test]
fn cancelling_ends_a_call_that_asks() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let world = world(Box::new(move |_, call| {
        counted.fetch_add(1, Ordering::SeqCst);
        while !call.stopped() {
            std::thread::yield_now();
        }
        Err("stopped".into())
    }));
    let plan = sql::plan("SELECT sum(f(a)) FROM t", &world).unwrap();
    let run = Run::start(&plan, OPTIONS).unwrap();
    while calls.load(Ordering::SeqCst) < 4 {
        std::thread::yield_now();
    }
    assert!(!run.wait(Duration::from_millis(1)));
    run.cancel();
    assert!(matches!(run.finish(), Err(Error::Cancelled)));
    assert_eq!(calls.load(Ordering::SeqCst), 4);
}

#[test]
fn dropping_a_run_waits_for_its_threads_and_releases_the_function() {
    let world = world(Box::new(|arguments, _| Ok(arguments[0].clone())));
    let plan = sql::plan("SELECT sum(f(a)) FROM t", &world).unwrap();
    drop(Run::start(&plan, OPTIONS).unwrap());
    drop(plan);
    assert_eq!(Arc::strong_count(&world.function), 1);
}

#[test]
fn a_function_that_breaks_its_declaration_is_an_error() {
    let text = |_: &[ArrayRef], call: &Call<'_>| -> Result<ArrayRef, _> {
        Ok(Arc::new(LargeStringArray::from_iter_values((0..call.rows()).map(|_| "x"))) as ArrayRef)
    };
    let error = run(&world(Box::new(text)), "SELECT f(a) FROM t").unwrap_err().to_string();
    assert_eq!(error, "f returned LargeUtf8 where int64 is declared");
    let short = |arguments: &[ArrayRef], _: &Call<'_>| -> Result<ArrayRef, _> {
        Ok(arguments[0].slice(0, 1))
    };
    let error = run(&world(Box::new(short)), "SELECT f(a) FROM t").unwrap_err().to_string();
    assert!(error.contains("returned 1 rows of int64 for 10 of int64"), "{error}");
}

#[test]
fn large_strings_leave_as_the_type_that_results_have() {
    let world = world(Box::new(|arguments, _| Ok(arguments[0].clone())));
    let batches = run(&world, "SELECT s, a FROM t WHERE a < 15").unwrap();
    let texts: Vec<_> = batches
        .iter()
        .flat_map(|b| b.column(0).as_string::<i32>().iter().flatten().collect::<Vec<_>>())
        .collect();
    assert_eq!(texts, (0..15).map(|i| i.to_string()).collect::<Vec<_>>());
    let sum: i64 = batches
        .iter()
        .flat_map(|b| b.column(1).as_primitive::<Int64Type>().values().to_vec())
        .sum();
    assert_eq!(sum, 105);
}

#[test]
fn widening_loses_nothing() {
    use Type::*;
    for (from, to) in [
        (Int8, Int64),
        (UInt8, Int16),
        (UInt32, Int64),
        (Int16, Float32),
        (Int64, Float64),
        (String, Bytes),
    ] {
        assert!(from.widens_to(to), "{from} to {to}");
    }
    for (from, to) in [
        (Int64, Int8),
        (Int8, UInt64),
        (UInt64, Int64),
        (Int32, Float32),
        (Float64, Float32),
        (Float64, Int64),
        (Bytes, String),
        (Bool, Int64),
    ] {
        assert!(!from.widens_to(to), "{from} to {to}");
    }
}
