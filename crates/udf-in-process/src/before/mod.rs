//! Before: the function runs out of process, and rows travel as text.
//!
//! `naive` is what the engine's old decorator did; `pooled` is the best that can be done out of
//! process, so that the comparison is honest. Neither needs an interpreter in this process: the
//! source text of the function is all that they get.

mod child;
pub mod naive;
pub mod pooled;
pub mod tsv;

use arrow_schema::DataType;

/// What went wrong out of process, with the child's own words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ChildError(pub String);

/// The types that both variants carry as text.
pub const CARRIED: [DataType; 4] =
    [DataType::Int64, DataType::Float64, DataType::Boolean, DataType::Utf8];

/// A function as source text.
#[derive(Clone, Debug)]
pub struct Source {
    /// The function's name, in the source and in SQL.
    pub name: String,
    /// Complete top-level Python code that defines it.
    pub text: String,
    /// The types of its arguments.
    pub parameters: Vec<DataType>,
    /// The type of its result.
    pub returns: DataType,
    /// The interpreter that runs it.
    pub python: String,
}
