//! Lesson `string-fast-path`: a column of Python strings into one UTF-8 buffer with offsets, and back.
//!
//! *Before*, one call of the C API for each string, attached, which keeps a second copy of every string
//! that is not ASCII. *After*, one call for a block: the characters are read where they are, on any
//! thread, and nothing is written to the objects.

pub mod after;
pub mod before;
#[cfg(feature = "bench")]
pub mod bench;
pub mod python;
