//! The bridge to `cpp/engine`: plans and columns go in, runs come out.
//!
//! Columns cross as Arrow C Data Interface structures, so no value is copied. C++ exceptions come
//! out as [`cxx::Exception`] with their text; an `Err` of [`Callee::call`] goes in as one.

use crate::run::{Functions, ThreadScope, call_from_cpp as call, enter_thread};

#[cxx::bridge(namespace = "engine")]
pub mod ffi {
    /// One node of an expression; operands come before the node that uses them.
    struct Node {
        op: u8,
        type_id: u8,
        column: usize,
        null: bool,
        integer: i64,
        real: f64,
        text: String,
        function: usize,
        arguments: Vec<usize>,
    }

    /// An output of a query: an aggregate (0: none) over a node (`usize::MAX`: over rows).
    struct OutputSpec {
        aggregate: u8,
        node: usize,
    }

    struct QuerySpec {
        nodes: Vec<Node>,
        columns: Vec<usize>,
        /// A node, or `usize::MAX` for none.
        filter: usize,
        group: usize,
        outputs: Vec<OutputSpec>,
        block_rows: i64,
        threads: usize,
    }

    extern "Rust" {
        /// The functions of a query, shared by the threads of its run.
        type Functions;
        /// Calls one of them for one block, on the thread that works on the block.
        fn call(functions: &Functions, index: usize, site: Pin<&mut CallSite>) -> Result<()>;
        /// What the functions keep for a thread of the run, from before its first block until after
        /// its last.
        type ThreadScope;
        fn enter_thread(functions: &Functions) -> Box<ThreadScope>;
    }

    unsafe extern "C++" {
        include!("engine-bridge/bridge.h");

        #[namespace = ""]
        type ArrowArray;
        type TableBuilder;
        type RunHandle;

        fn new_table() -> UniquePtr<TableBuilder>;
        /// Adds a column to the chunk that is being made; takes the array over.
        ///
        /// # Safety
        /// `array` is a valid array of the type `type_id`, with 64-bit offsets if `wide`.
        unsafe fn push_column(
            table: Pin<&mut TableBuilder>,
            array: *mut ArrowArray,
            type_id: u8,
            wide: bool,
        ) -> Result<()>;
        /// Ends the chunk that is being made; `rows` serves a table without columns.
        fn end_chunk(table: Pin<&mut TableBuilder>) -> Result<()>;

        /// One call of a function for one block.
        type CallSite;
        fn rows(self: &CallSite) -> usize;
        fn arguments(self: &CallSite) -> usize;
        fn argument_type(self: &CallSite, index: usize) -> u8;
        fn argument_wide(self: &CallSite, index: usize) -> bool;
        /// # Safety
        /// `array` points to an empty structure.
        unsafe fn export_argument(self: &CallSite, index: usize, array: *mut ArrowArray);
        /// The number in the table of a row of the block; both count from 0.
        fn row_number(self: &CallSite, row: usize) -> i64;
        fn block(self: &CallSite) -> u64;
        /// The number of the last block that is wanted, to be read atomically during the call.
        fn last_wanted(self: &CallSite) -> *const u64;
        /// Takes over the result.
        ///
        /// # Safety
        /// `array` is a valid array of the type `type_id`.
        unsafe fn set_result(
            self: Pin<&mut CallSite>,
            array: *mut ArrowArray,
            type_id: u8,
        ) -> Result<()>;

        fn start(
            table: &TableBuilder,
            spec: &QuerySpec,
            functions: Box<Functions>,
        ) -> Result<UniquePtr<RunHandle>>;
        fn wait(self: &RunHandle, milliseconds: u32) -> bool;
        fn cancel(self: &RunHandle);
        fn first_block_nanos(self: &RunHandle) -> u64;
        /// Joins; afterwards the result can be exported. Of the blocks that failed, the error is
        /// that of the first in the table.
        fn finish(self: Pin<&mut RunHandle>) -> Result<()>;
        /// After a failed finish: the block that failed, counting from 1; 0 for a cancelled query.
        fn failed_block(self: &RunHandle) -> u64;
        fn chunks(self: &RunHandle) -> usize;
        /// # Safety
        /// `array` points to an empty structure.
        unsafe fn export_result(
            self: &RunHandle,
            chunk: usize,
            output: usize,
            array: *mut ArrowArray,
        ) -> Result<()>;
        /// Whether an output has 64-bit offsets: a string column of the table that passed through.
        fn result_wide(self: &RunHandle, chunk: usize, output: usize) -> bool;
        /// Rounds the exact sum of `values`; for tests.
        fn exact_sum(values: &[f64]) -> f64;
    }
}

// SAFETY: a RunHandle wraps engine::Run, whose methods are internally synchronised (query.h); finish
// is called by the one owner.
unsafe impl Send for ffi::RunHandle {}
// SAFETY: as above: wait, cancel and first_block_nanos may be called from any thread.
unsafe impl Sync for ffi::RunHandle {}
// SAFETY: a TableBuilder is a table that is written by its one owner and immutable once shared.
unsafe impl Send for ffi::TableBuilder {}
// SAFETY: as above: `start` only copies its chunks' shared pointers, whose counts are atomic.
unsafe impl Sync for ffi::TableBuilder {}
