//! User-defined functions, as the engine sees them.

use std::any::Any;
use std::error::Error as StdError;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::ArrayRef;

use crate::Type;
use crate::bridge::ffi;

/// A scalar function that the engine calls from its own threads, once for each block.
///
/// Implementations must expect concurrent calls from threads that they have never seen; the engine
/// knows nothing of Python, so whatever a thread must do before it may run Python happens here.
// ANCHOR: trait
pub trait ScalarFunction: Send + Sync {
    /// The name, for error messages.
    fn name(&self) -> &str;

    /// The declared types for a call with `count` arguments, or why that many are refused.
    fn parameters(&self, count: usize) -> Result<Vec<Type>, String>;

    /// The type of the result.
    fn returns(&self) -> Type;

    /// What the function wants to keep for a thread of the engine: called on each thread of a query
    /// before its first block, and dropped on the same thread after its last.
    fn enter_thread(&self) -> Box<dyn Any> {
        Box::new(())
    }

    /// Computes a block: `arguments` have the declared types and `call.rows()` rows each, and so
    /// must the result, which is of type [`returns`](Self::returns).
    fn call(
        &self,
        arguments: &[ArrayRef],
        call: &Call<'_>,
    ) -> Result<ArrayRef, Box<dyn StdError + Send + Sync>>;
}
// ANCHOR_END: trait

/// One call for one block: where the block lies, and whether its result is still wanted.
pub struct Call<'a> {
    pub(crate) site: &'a ffi::CallSite,
    pub(crate) last_wanted: &'a AtomicU64,
    pub(crate) block: u64,
}

impl Call<'_> {
    /// Rows in this block; never 0.
    pub fn rows(&self) -> usize {
        self.site.rows()
    }

    /// The number in the table of row `row` of this block. Both count from 0; rows that the filter
    /// dropped are counted too.
    pub fn row_number(&self, row: usize) -> u64 {
        self.site.row_number(row) as u64
    }

    /// True once the query was cancelled or an earlier block failed: return early, with any error.
    #[inline(always)]
    pub fn stopped(&self) -> bool {
        self.stop().requested()
    }

    /// The same question as a value of its own, for a loop that asks it at every row.
    #[inline(always)]
    pub fn stop(&self) -> Stop<'_> {
        Stop { last_wanted: self.last_wanted, block: self.block }
    }
}

/// Whether a block's result is still wanted.
#[derive(Clone, Copy)]
pub struct Stop<'a> {
    last_wanted: &'a AtomicU64,
    block: u64,
}

impl Stop<'_> {
    /// See [`Call::stopped`].
    #[inline(always)]
    pub fn requested(&self) -> bool {
        // Relaxed: the number publishes no data, it only saves work (see Stop in expr.h).
        self.last_wanted.load(Ordering::Relaxed) < self.block
    }
}
