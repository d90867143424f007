//! Lesson `udf-in-process`: a Python function over the rows of a table.
//!
//! *Before*, it runs in another process: rows become text, a fork and two pipes stand between the
//! engine and the function, and the text loses what the value was. *After*, the engine's own threads
//! attach to the interpreter and call it. The idea in one line: attach once for a block, reuse the
//! argument frame for every row, and never be attached while waiting.

pub mod after;
pub mod before;
#[cfg(feature = "bench")]
pub mod bench;
pub mod glue;
pub mod python;
