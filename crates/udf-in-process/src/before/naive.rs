//! The old decorator, faults and all: one interpreter started for each block, `strip` and `split`.

use std::process::Command;
use std::time::Duration;

use arrow_array::ArrayRef;
use tempfile::TempDir;

use super::child::{Child, Limits};
use super::{ChildError, Source, tsv};

const LIMITS: Limits = Limits { write: Duration::from_secs(10), read: Duration::from_secs(10) };

/// A function as a script that is started anew for every block.
///
/// Thread-safety: immutable; each call has its own child.
pub struct NaiveUdf {
    /// The function.
    pub source: Source,
    dir: TempDir,
}

// ANCHOR: script
/// What the script looks like: every argument is text, and everything printed is a result.
fn script(source: &Source) -> String {
    let fields = (0..source.parameters.len()).map(|i| format!("fields[{i}]"));
    format!(
        "import sys\n\n{}\n\nfor line in sys.stdin:\n    fields = line.strip().split('\\t')\n    \
         print({}({}))\n    sys.stdout.flush()\n",
        source.text,
        source.name,
        fields.collect::<Vec<_>>().join(", ")
    )
}
// ANCHOR_END: script

impl NaiveUdf {
    /// Writes the script into a folder of its own, which goes with the function.
    pub fn new(source: Source) -> Result<Self, ChildError> {
        let failed = |error: std::io::Error| ChildError(format!("writing the script: {error}"));
        let dir = tempfile::tempdir().map_err(failed)?;
        std::fs::write(dir.path().join("udf.py"), script(&source)).map_err(failed)?;
        Ok(Self { source, dir })
    }

    // ANCHOR: call_block
    /// Starts an interpreter, sends the block as text, reads as many lines as it has rows.
    pub fn call_block(
        &self,
        arguments: &[ArrayRef],
        rows: usize,
        stopped: &dyn Fn() -> bool,
    ) -> Result<ArrayRef, ChildError> {
        let mut input = Vec::new();
        for row in 0..rows {
            for (index, column) in arguments.iter().enumerate() {
                if column.is_null(row) {
                    return Err(ChildError(format!(
                        "cannot send NULL (argument {} in row {row} of the block) to a function \
                         that runs out of process",
                        index + 1
                    )));
                }
                if index > 0 {
                    input.push(b'\t');
                }
                tsv::write_field(column, row, &mut input);
            }
            input.push(b'\n');
        }
        let script = self.dir.path().join("udf.py");
        let mut child = Child::start(Command::new(&self.source.python).arg(script))?;
        let output = child.exchange(&input, true, LIMITS, |_| false, stopped)?;
        child.end(LIMITS.read)?;
        let lines: Vec<&[u8]> = output
            .strip_suffix(b"\n")
            .map_or(vec![], |text| text.split(|byte| *byte == b'\n').collect());
        if lines.len() != rows {
            return Err(ChildError(format!(
                "wrong result, expected {rows} row(s), actual {}",
                lines.len()
            )));
        }
        tsv::read_column(&lines, &self.source.returns).map_err(ChildError)
    }
    // ANCHOR_END: call_block
}
