//! The best one can do out of process: workers that stay, an exact codec, limits on every wait.

use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use arrow_array::ArrayRef;
use tempfile::TempDir;

use super::child::{Child, Limits};
use super::{ChildError, Source, tsv};
use crate::after;

/// A function in a pool of worker processes; as many are started as threads ask at once.
///
/// Thread-safety: internally synchronised; a worker serves one caller at a time.
pub struct PooledUdf {
    /// The function.
    pub source: Source,
    limits: Limits,
    dir: TempDir,
    idle: Mutex<Vec<Child>>,
}

const WORKER: &str = include_str!("worker.py");

impl PooledUdf {
    /// Writes the worker's code; the workers start when they are first needed.
    pub fn new(source: Source, write: Duration, read: Duration) -> Result<Self, ChildError> {
        let failed = |error: std::io::Error| ChildError(format!("writing the worker: {error}"));
        let dir = tempfile::tempdir().map_err(failed)?;
        let types = |kinds: &[arrow_schema::DataType]| {
            kinds.iter().map(|kind| format!("\"{}\"", after::type_name(kind))).collect::<Vec<_>>()
        };
        let main = format!(
            "import worker\n\n{}\n\nworker.serve({}, [{}], {})\n",
            source.text,
            source.name,
            types(&source.parameters).join(", "),
            types(std::slice::from_ref(&source.returns))[0],
        );
        std::fs::write(dir.path().join("worker.py"), WORKER).map_err(failed)?;
        std::fs::write(dir.path().join("main.py"), main).map_err(failed)?;
        Ok(Self { source, limits: Limits { write, read }, dir, idle: Mutex::default() })
    }

    /// Sends the block to a worker. A worker that failed in any way is not used again.
    pub fn call_block(
        &self,
        arguments: &[ArrayRef],
        rows: usize,
        row_number: &dyn Fn(usize) -> u64,
        stopped: &dyn Fn() -> bool,
    ) -> Result<ArrayRef, ChildError> {
        let mut input = format!("{rows}\n").into_bytes();
        for row in 0..rows {
            for (index, column) in arguments.iter().enumerate() {
                if index > 0 {
                    input.push(b'\t');
                }
                tsv::write_field(column, row, &mut input);
            }
            input.push(b'\n');
        }
        // Not in the match below: the guard would live on and keep the others waiting.
        let idle = self.idle.lock().unwrap_or_else(|e| e.into_inner()).pop();
        let mut worker = match idle {
            Some(worker) => worker,
            None => Child::start(
                Command::new(&self.source.python).arg(self.dir.path().join("main.py")),
            )?,
        };
        // Lines are counted as they come, not from the start each time.
        let (mut seen, mut lines) = (0, 0);
        let complete = |output: &[u8]| {
            lines += output[seen..].iter().filter(|byte| **byte == b'\n').count();
            seen = output.len();
            lines == rows + 1 || (lines >= 1 && output.starts_with(b"error "))
        };
        let output = worker.exchange(&input, false, self.limits, complete, stopped)?;
        self.idle.lock().unwrap_or_else(|e| e.into_inner()).push(worker);

        let mut lines = output.strip_suffix(b"\n").unwrap_or(&output).split(|b| *b == b'\n');
        match lines.next() {
            Some(b"ok") => {
                let lines: Vec<&[u8]> = lines.collect();
                tsv::read_column(&lines, &self.source.returns).map_err(ChildError)
            }
            Some(line) => Err(self.error(line, row_number)),
            None => Err(ChildError(format!("{}: an empty answer", self.source.name))),
        }
    }

    fn error(&self, line: &[u8], row_number: &dyn Fn(usize) -> u64) -> ChildError {
        let text = String::from_utf8_lossy(line);
        let mut words = text.splitn(3, ' ');
        let (_, row, what) = (words.next(), words.next(), words.next().unwrap_or_default());
        let row = row.and_then(|r| r.parse().ok()).map_or(0, row_number);
        let what = String::from_utf8_lossy(&tsv::unescape(what.as_bytes())).into_owned();
        ChildError(format!("{}: row {row}: {what}", self.source.name))
    }
}
