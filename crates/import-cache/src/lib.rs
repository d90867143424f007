//! Lesson `import-cache`: an object that is imported once and looked up for ever after.
//!
//! *Before*, a plain pointer says whether the import was made: under the GIL the look and the write
//! could not meet. A once around the slow path mends the race and brings a deadlock, since whoever
//! loses blocks attached. *After*, the pointer is published with Release and read with Acquire, and
//! the slow path waits detached.

pub mod after;
pub mod before;
#[cfg(feature = "bench")]
pub mod bench;
pub mod python;
