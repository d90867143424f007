//! What lessons share. Everything that both the bench driver (`xtask`) and the measured process (the
//! extension) must agree on stands here once.

#![warn(missing_docs)]

#[cfg(feature = "bench")]
pub mod bench;
pub mod lesson;
pub mod protocol;
