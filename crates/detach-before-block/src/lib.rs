//! Lesson `detach-before-block`: a thread that waits for another must not be attached meanwhile.
//!
//! *Before*, four waits (a once, a lock, a channel, a join) as they compile. Each hangs on one build
//! or the other, depending on what the thread that is waited for does. *After*, each detaches first.
//! `checked` is for debug builds: a lock that panics when somebody blocks on it while attached, and a
//! table of who waits for what.

pub mod after;
pub mod before;
pub mod checked;
pub mod python;
