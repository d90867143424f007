//! Says whether a process will run without the GIL, and who turns it on.
//!
//! [`binary`] reads what an extension file declares without importing it; [`source`] finds the files
//! of an environment or a wheel; [`probe`] confirms by importing in a child process; [`verdict`]
//! brings the two together. One undeclared extension is enough to turn the GIL on for a process, and
//! only a warning says so.

pub mod binary;
pub mod cli;
mod known;
mod lock;
pub mod probe;
mod report;
pub mod rules;
pub mod scan;
pub mod source;
pub mod tags;
pub mod verdict;
