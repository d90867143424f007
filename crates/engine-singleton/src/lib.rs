//! Lesson `engine-singleton`: one engine for the process, made once, whose thread calls Python back.
//!
//! *Before*, the Python thread waits for the engine attached, and the engine's thread waits for the
//! GIL. *After*, everything that waits for the engine is detached, and a child of `fork`, which has
//! the engine's memory and not its thread, is told so instead of waiting for ever.

pub mod after;
pub mod before;
pub mod engine;
pub mod python;
