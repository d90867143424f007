//! Queries at work.

use std::any::Any;
use std::error::Error as StdError;
use std::pin::Pin;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arrow_array::ffi::{FFI_ArrowArray, from_ffi_and_data_type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use arrow_schema::{Field, Schema, SchemaRef};

use crate::bridge::ffi;
use crate::function::{Call, ScalarFunction};
use crate::{Error, Plan, Result, Table, Type};

type FunctionError = Box<dyn StdError + Send + Sync>;

/// The errors of functions, by block. C++ carries only their text; the objects wait here.
type Errors = Mutex<Vec<(u64, FunctionError)>>;

/// The functions of a query as the C++ side holds them.
pub struct Functions {
    all: Vec<Arc<dyn ScalarFunction>>,
    errors: Arc<Errors>,
}

/// What the functions of a query keep for one of its threads; made and dropped by that thread.
pub struct ThreadScope {
    _each: Vec<Box<dyn Any>>,
}

/// Called by each of the engine's threads before its first block.
pub fn enter_thread(functions: &Functions) -> Box<ThreadScope> {
    Box::new(ThreadScope { _each: functions.all.iter().map(|one| one.enter_thread()).collect() })
}

/// How a query is spread over threads.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Engine threads, 1 to 1024.
    pub threads: usize,
    /// Rows of a block, 1 to 2^32 - 1.
    pub block_rows: usize,
}

/// The rows of a block unless the caller says otherwise.
pub const BLOCK_ROWS: usize = 65_536;

/// A query at work on threads of its own.
///
/// Thread-safety: internally synchronised. Dropping it cancels and waits for the threads; whoever
/// runs Python functions must not be attached while it waits.
pub struct Run {
    raw: cxx::UniquePtr<ffi::RunHandle>,
    errors: Arc<Errors>,
    schema: SchemaRef,
    types: Vec<Type>,
    // The C++ side shares the columns by itself; the table is kept for its schema's sake.
    _table: Arc<Table>,
}

impl Run {
    /// Starts `plan` on `options.threads` new threads.
    ///
    /// # Errors
    /// Options out of range, and whatever the engine refuses before it looks at a row.
    pub fn start(plan: &Plan, options: Options) -> Result<Self> {
        let errors = Arc::new(Errors::default());
        let functions = Functions { all: plan.functions.clone(), errors: errors.clone() };
        let spec = plan.spec(options);
        let raw = ffi::start(&plan.table.raw, &spec, Box::new(functions))
            .map_err(|error| Error::Sql(error.what().into()))?;
        let fields = plan.outputs.iter().map(|(name, kind)| Field::new(name, kind.arrow(), true));
        Ok(Self {
            raw,
            errors,
            schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())),
            types: plan.outputs.iter().map(|(_, kind)| *kind).collect(),
            _table: plan.table.clone(),
        })
    }

    /// Waits until the run is over, at most `limit`; says whether it is over.
    pub fn wait(&self, limit: Duration) -> bool {
        self.raw.wait(limit.as_millis().try_into().unwrap_or(u32::MAX))
    }

    /// Asks the threads to stop; each finishes the row that it is at.
    pub fn cancel(&self) {
        self.raw.cancel();
    }

    /// Joins the threads and takes the result.
    ///
    /// # Errors
    /// Of the blocks that failed, the error of the first in the table.
    pub fn finish(mut self) -> Result<Outcome> {
        if let Err(error) = self.raw.pin_mut().finish() {
            return Err(self.error_of(self.raw.failed_block(), error.what()));
        }
        let first_block = Duration::from_nanos(self.raw.first_block_nanos());
        let mut batches = Vec::with_capacity(self.raw.chunks());
        for chunk in 0..self.raw.chunks() {
            let columns: Result<Vec<ArrayRef>> =
                (0..self.types.len()).map(|output| self.export(chunk, output)).collect();
            let options = RecordBatchOptions::new();
            let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns?, &options)
                .map_err(|error| Error::Data(error.to_string()))?;
            batches.push(batch);
        }
        Ok(Outcome { schema: self.schema.clone(), batches, first_block })
    }

    fn error_of(&self, block: u64, text: &str) -> Error {
        if block == 0 {
            return Error::Cancelled;
        }
        let mut errors = self.errors.lock().unwrap_or_else(|e| e.into_inner());
        match errors.iter().position(|(at, _)| *at == block) {
            Some(at) => Error::Function(errors.swap_remove(at).1),
            None => Error::Row(text.into()),
        }
    }

    fn export(&self, chunk: usize, output: usize) -> Result<ArrayRef> {
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: `array` is empty and lives until it is filled.
        unsafe {
            self.raw.export_result(chunk, output, (&raw mut array).cast::<ffi::ArrowArray>())
        }
        .map_err(|error| Error::Data(error.what().into()))?;
        let wide = self.raw.result_wide(chunk, output);
        let array = import(array, self.types[output], wide)?;
        if wide { narrow(&array) } else { Ok(array) }
    }
}

/// What a query gave.
pub struct Outcome {
    /// The columns.
    pub schema: SchemaRef,
    /// The rows, in the order of the table.
    pub batches: Vec<RecordBatch>,
    /// From the start until the first block was done; zero if there was none.
    pub first_block: Duration,
}

fn import(array: FFI_ArrowArray, kind: Type, wide: bool) -> Result<ArrayRef> {
    // SAFETY: the engine exported a valid array of this type (export_column in column.cc).
    let data = unsafe { from_ffi_and_data_type(array, kind.arrow_wide(wide)) }
        .map_err(|error| Error::Data(error.to_string()))?;
    Ok(make_array(data))
}

/// Large offsets to the 32-bit ones that functions and results have.
fn narrow(array: &ArrayRef) -> Result<ArrayRef> {
    use arrow_array::cast::AsArray;
    use arrow_array::{BinaryArray, StringArray};
    let text = array.data_type() == &arrow_schema::DataType::LargeUtf8;
    let offsets = if text {
        array.as_string::<i64>().value_offsets()
    } else {
        array.as_binary::<i64>().value_offsets()
    };
    let bytes = offsets.last().unwrap_or(&0) - offsets.first().unwrap_or(&0);
    if i32::try_from(bytes).is_err() {
        return Err(Error::Data("a block's strings exceed 2 GiB; use smaller blocks".into()));
    }
    Ok(if text {
        Arc::new(StringArray::from_iter(array.as_string::<i64>()))
    } else {
        Arc::new(BinaryArray::from_iter(array.as_binary::<i64>()))
    })
}

/// Called by the engine's threads, once for each block and call in the plan.
pub fn call_from_cpp(
    functions: &Functions,
    index: usize,
    mut site: Pin<&mut ffi::CallSite>,
) -> std::result::Result<(), String> {
    let function = functions.all.get(index).ok_or("the plan calls a function that it lacks")?;
    let result = {
        let site = site.as_ref().get_ref();
        let arguments: Result<Vec<ArrayRef>> = (0..site.arguments())
            .map(|index| {
                let mut array = FFI_ArrowArray::empty();
                // SAFETY: `array` is empty and lives until it is filled.
                unsafe {
                    site.export_argument(index, (&raw mut array).cast::<ffi::ArrowArray>());
                }
                let wide = site.argument_wide(index);
                let array = import(array, Type::from_id(site.argument_type(index)), wide)?;
                if wide { narrow(&array) } else { Ok(array) }
            })
            .collect();
        let arguments = arguments.map_err(|error| error.to_string())?;
        // SAFETY: the number outlives the call, is aligned, and is accessed atomically on both
        // sides: by std::atomic_ref in C++, which has AtomicU64's representation.
        let last_wanted = unsafe { AtomicU64::from_ptr(site.last_wanted().cast_mut()) };
        let block = site.block();
        let call = Call { site, last_wanted, block };
        function.call(&arguments, &call).map_err(|error| {
            let text = error.to_string();
            functions.errors.lock().unwrap_or_else(|e| e.into_inner()).push((block, error));
            text
        })?
    };
    let id = function.returns();
    if result.data_type() != &id.arrow() {
        return Err(format!(
            "{} returned {} where {id} is declared",
            function.name(),
            result.data_type()
        ));
    }
    let mut exported = FFI_ArrowArray::new(&result.to_data());
    // SAFETY: `exported` is a valid array of the type `id`, as was just checked.
    unsafe { site.as_mut().set_result((&raw mut exported).cast::<ffi::ArrowArray>(), id as u8) }
        .map_err(|error| error.what().to_owned())
}
