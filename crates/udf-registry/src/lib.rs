//! Lesson `udf-registry`: functions by name, looked up by many threads and registered by some.
//!
//! *Before*, the check and the insertion are two steps, or they are one and Python runs under the
//! lock. *After*, whatever runs Python (making a function, dropping it) happens with no lock held, so
//! that waiting for the lock while attached is harmless.

pub mod after;
pub mod before;
#[cfg(feature = "bench")]
pub mod bench;
pub mod python;
