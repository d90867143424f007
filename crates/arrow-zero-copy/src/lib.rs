//! Lesson `arrow-zero-copy`: a column of strings that is Arrow already is scanned where it lies.
//!
//! *Before*, every query makes a Python object of each row (`to_numpy`) and reads those; or it keeps
//! addresses of buffers that nobody owns, and reads them as if every column were whole. *After*, the
//! column is taken over by the Arrow C interface, checked before any thread starts, read in place by
//! detached threads, and given back once, attached.

pub mod after;
pub mod before;
#[cfg(feature = "bench")]
pub mod bench;
pub mod python;
