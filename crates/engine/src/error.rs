//! What can go wrong with a query.

use std::error::Error as StdError;

/// An error of the engine.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The SQL text is not SQL, or asks for what this engine does not have; said by name.
    #[error("{0}")]
    Sql(String),
    /// A column or table that does not fit: its name, its type, and what would.
    #[error("{0}")]
    Data(String),
    /// A value that could not be computed, with the number of its row.
    #[error("{0}")]
    Row(String),
    /// A user-defined function failed; the error is the function's own.
    #[error("{0}")]
    Function(Box<dyn StdError + Send + Sync>),
    /// [`Run::cancel`](crate::Run::cancel) was called.
    #[error("the query was cancelled")]
    Cancelled,
}

/// The result of an operation of the engine.
pub type Result<T> = std::result::Result<T, Error>;
