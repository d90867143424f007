//! Lesson `shared-refcounts`: one function, called by every thread, and whose counts they write to.
//!
//! *Before*, the engine calls whatever it was given: a module's function scales, a nested function
//! does not, since each call counts references on objects that all threads share. *After*, the objects
//! behind the function get deferred reference counts when it is registered, and a constant argument is
//! made anew for each block instead of being handed to every thread.

pub mod after;
pub mod before;
#[cfg(feature = "bench")]
pub mod bench;
pub mod python;
