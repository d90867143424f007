//! After: the engine holds the function and calls it from its own threads.
//!
//! Copy this folder. It speaks pyo3, pyo3-arrow and arrow-rs and knows nothing of an engine: yours
//! gives a block of Arrow arrays to [`ScalarUdf::call_block`] or [`BatchUdf::call_block`], on any of
//! its threads, and gets an Arrow array back.

mod batch;
mod boxing;
mod column;
mod convert;
mod error;
mod failure;
mod flat;
mod frame;
mod kept;
mod numbers;
mod refused;
mod rows;
mod scalar;
mod signature;
mod types;
mod unboxing;

pub use batch::BatchUdf;
pub use error::{FunctionError, Site};
pub use kept::KeptState;
pub use scalar::{OnError, OnNull, ScalarUdf};
pub use signature::{Signature, choice, name_of};
pub use types::{SUPPORTED, UdfType, declared, name as type_name};

/// One block on its way through a function: what the engine tells about it.
pub struct Block<'a> {
    /// Rows, at least one.
    pub rows: usize,
    /// From a row of the block to its number in the table, for error messages.
    pub row_number: &'a dyn Fn(usize) -> u64,
}
