//! `ungil.Engine`: tables by name, and queries that can be interrupted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::{BLOCK_ROWS, Error, Options, Outcome, Run, ScalarFunction, Table, sql};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::PyTable;

use crate::exit::{Active, exiting};
use crate::{QueryResult, registry};

pyo3::create_exception!(ungil, EngineError, PyRuntimeError, "A query failed at a row or a block.");
pyo3::create_exception!(
    ungil,
    SqlError,
    PyValueError,
    "A query that is not SQL, or asks for what the engine does not have."
);

/// How long the waiting thread stays detached before it looks for Ctrl-C.
const SIGNALS: Duration = Duration::from_millis(50);

/// An engine with tables of its own; functions are shared by all engines of the process.
///
/// Thread-safety: internally synchronised; queries of several threads run side by side.
#[pyclass(frozen, module = "ungil")]
pub struct Engine {
    tables: Mutex<HashMap<String, Arc<Table>>>,
    options: Options,
}

impl sql::Catalog for Engine {
    fn table(&self, name: &str) -> Option<Arc<Table>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
    fn function(&self, name: &str) -> Option<Arc<dyn ScalarFunction>> {
        registry::function(name)
    }
}

fn in_range(name: &str, value: usize, most: usize) -> PyResult<usize> {
    if !(1..=most).contains(&value) {
        return Err(PyValueError::new_err(format!("{name} is {value}; it must be 1 to {most}")));
    }
    Ok(value)
}

impl Engine {
    fn options(&self, threads: Option<usize>, block_rows: Option<usize>) -> PyResult<Options> {
        Ok(Options {
            threads: in_range("threads", threads.unwrap_or(self.options.threads), 1024)?,
            block_rows: in_range(
                "block_rows",
                block_rows.unwrap_or(self.options.block_rows),
                u32::MAX as usize,
            )?,
        })
    }
}

#[pymethods]
impl Engine {
    /// Without `threads`, as many as the machine has cores.
    #[new]
    #[pyo3(signature = (*, threads=None, block_rows=None))]
    fn new(threads: Option<usize>, block_rows: Option<usize>) -> PyResult<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let options = Options { threads: cores, block_rows: BLOCK_ROWS };
        let engine = Self { tables: Mutex::default(), options };
        Ok(Self { options: engine.options(threads, block_rows)?, ..engine })
    }

    /// Mounts a table: anything that exports `__arrow_c_stream__` (pyarrow, pandas, polars). The
    /// buffers are read in place and kept until the table and all results over it are gone.
    fn register(&self, py: Python<'_>, name: String, data: PyTable) -> PyResult<()> {
        let (batches, schema) = data.into_inner();
        let table = Table::new(schema, &batches).map_err(|error| to_python(py, error))?;
        let replaced =
            self.tables.lock().unwrap_or_else(PoisonError::into_inner).insert(name, table);
        // Releasing a table's buffers may run Python: not under the lock.
        drop(replaced);
        Ok(())
    }

    /// Runs `SELECT ... FROM table [WHERE ...] [GROUP BY ...]`.
    #[pyo3(signature = (query, *, threads=None, block_rows=None))]
    fn sql(
        &self,
        py: Python<'_>,
        query: &str,
        threads: Option<usize>,
        block_rows: Option<usize>,
    ) -> PyResult<QueryResult> {
        let options = self.options(threads, block_rows)?;
        // The plan holds the functions: it is made and dropped attached, and outlives the run.
        let plan = sql::plan(query, self).map_err(|error| to_python(py, error))?;
        let run = Run::start(&plan, options).map_err(|error| to_python(py, error))?;
        Ok(QueryResult::new(drive(py, run)?))
    }

    fn __repr__(&self) -> String {
        let Options { threads, block_rows } = self.options;
        format!("Engine(threads={threads}, block_rows={block_rows})")
    }
}

// ANCHOR: drive
/// Waits for a run, detached, and lets Ctrl-C through.
///
/// The engine's threads attach to call functions. A caller that stayed attached while it waits would
/// stop them all on the GIL-enabled build, and stop every collection on the free-threaded one.
pub fn drive(py: Python<'_>, run: Run) -> PyResult<Outcome> {
    let stop = |run: Run, reason: PyErr| {
        run.cancel();
        // Joins the threads, which may still be in the middle of a row.
        py.detach(|| drop(run));
        Err(reason)
    };
    let active = match Active::start() {
        Ok(active) => active,
        Err(exiting) => return stop(run, exiting),
    };
    while !py.detach(|| run.wait(SIGNALS)) {
        if let Err(interrupt) = py.check_signals() {
            return stop(run, interrupt);
        }
        if active.exiting() {
            return stop(run, exiting());
        }
    }
    py.detach(|| run.finish()).map_err(|error| to_python(py, error))
}
// ANCHOR_END: drive

fn to_python(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Sql(text) => SqlError::new_err(text),
        Error::Data(text) => PyTypeError::new_err(text),
        Error::Function(error) => match error.downcast::<PyErr>() {
            // Raised on an engine thread; the object belongs to no thread.
            Ok(error) => error.clone_ref(py),
            Err(other) => EngineError::new_err(other.to_string()),
        },
        other => EngineError::new_err(other.to_string()),
    }
}
