//! Lesson `call-frame`: what it costs to hand two values to a Python function, row after row.
//!
//! *Before*, the arguments of a row travel in a tuple, as `PyObject_CallObject` wants them; or all
//! tuples of a block are made first and kept. *After*, they lie in a frame on the stack, where the
//! vectorcall protocol takes them from. The tuple costs time; only the kept tuples cause collections.

pub mod after;
pub mod before;
#[cfg(feature = "bench")]
pub mod bench;
pub mod python;
