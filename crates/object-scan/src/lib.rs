//! Lesson `object-scan`: a column of Python objects becomes a column of values, on many threads.
//!
//! *Before*, borrowed references out of containers that other threads change: the GIL kept them alive.
//! *After*, a snapshot that owns a reference to each object, taken while nobody can change the
//! container; then every thread reads, and what a row may be is said once.

pub mod after;
pub mod before;
#[cfg(feature = "bench")]
pub mod bench;
pub mod python;
