//! Lesson `eager-init`: a scan thread that has no thread state meets the first null.
//!
//! *Before*, the thread looks `pandas.NaT` up when it first needs it, which is an import without an
//! interpreter. In Rust that takes an `unsafe`; in C++ it takes nothing. *After*, what the threads need
//! is resolved while attached, and they compare addresses.

pub mod after;
pub mod before;
pub mod python;
