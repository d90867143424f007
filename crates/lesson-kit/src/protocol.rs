//! The lines that the bench driver and a measured process exchange: one JSON object a line.
//!
//! The driver asks, the process answers; one question at a time, so that nothing else runs while it
//! measures. Peers that are not ours speak the same lines (`bench/peers.py`).

use serde::{Deserialize, Serialize};

/// From the driver.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Ask {
    /// What can be measured here, and where is here?
    List,
    /// Measure one case.
    Measure {
        /// Its place in the list.
        case: usize,
        /// Engine threads.
        threads: usize,
        /// Samples to take: from 10 on by criterion, fewer as single iterations.
        samples: usize,
        /// Time to spend on them, in seconds; each sample is at least one iteration.
        seconds: f64,
        /// Time to run before the first sample, in seconds.
        warm_up: f64,
    },
}

/// A thing that can be measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CaseInfo {
    /// `in-process`, `limit:c-loop`, `peer:chdb`, ...
    pub variant: String,
    /// What it runs on: `ints`, `flights`.
    pub workload: String,
    /// Rows of one iteration.
    pub rows: usize,
    /// Slow cases are measured in the first round only.
    pub slow: bool,
    /// False for what has one thread whatever it is asked for.
    pub threaded: bool,
}

/// Where a process measures.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Environment {
    /// `3.14.9`.
    pub python: String,
    /// Whether this is a free-threaded build.
    pub free_threaded: bool,
    /// Whether the constants of imported code are immortal, which on the free-threaded build they
    /// are only if a `.pyc` was read (without one, every thread contends on them).
    pub constants_immortal: bool,
    /// Name and version of what is measured, where it is not ours.
    pub packages: Vec<String>,
}

/// The answer to [`Ask::List`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Listing {
    /// The cases, in the order of their numbers.
    pub cases: Vec<CaseInfo>,
    /// Where they run.
    pub environment: Environment,
}

/// The answer to [`Ask::Measure`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// Nanoseconds of one row, a sample each.
    pub ns_per_row: Vec<f64>,
    /// `sys._is_gil_enabled()` before and after.
    pub gil_enabled: [bool; 2],
    /// Nanoseconds from the start of a query to its first block, where that can be known.
    pub first_block_ns: Option<u64>,
    /// Garbage collections a second, warm-up included. On the free-threaded build each stops every
    /// thread, twice. Peers do not count them.
    #[serde(default)]
    pub collections_per_s: f64,
}
