//! The patient: a small but real columnar engine in C++20, seen from Rust.
//!
//! A [`Table`] mounts Arrow record batches without a copy. A [`Plan`] (from [`sql::plan`], or built
//! by hand) is scan, filter, projection and aggregate. A [`Run`] cuts the table into blocks and hands
//! them to threads of its own; user-defined functions ([`ScalarFunction`]) are called from those.
//! Nothing here or in `cpp/engine` knows of Python: that is what the lessons add.

#![warn(missing_docs)]

mod bridge;
mod error;
mod function;
mod plan;
mod run;
pub mod sql;
mod table;
mod types;

pub use error::{Error, Result};
pub use function::{Call, ScalarFunction, Stop};
pub use plan::{Aggregate, Literal, Node, Op, Plan};
pub use run::{BLOCK_ROWS, Options, Outcome, Run};
pub use table::Table;
pub use types::Type;

/// The sum of `values`, rounded once (as Python's `math.fsum`): what `sum` gives for float64.
pub fn exact_sum(values: &[f64]) -> f64 {
    bridge::ffi::exact_sum(values)
}
