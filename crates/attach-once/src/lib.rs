//! Lesson `attach-once`: what it costs a thread to become known to Python, again for each block.
//!
//! *Before*, an engine thread attaches for a block and is unknown again after it: CPython makes a
//! thread state and destroys it, and with it whatever Python keeps for the thread. *After*, a pool
//! whose threads attach once for their life, and are detached whenever they are not in Python.

pub mod after;
pub mod before;
#[cfg(feature = "bench")]
pub mod bench;
pub mod python;
