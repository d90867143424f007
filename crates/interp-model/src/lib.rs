//! CPython as far as a lock can see it, in [loom]: threads attach and detach, run Python code, ask
//! for a stop-the-world, and are refused once the interpreter shuts down. No Python is needed.
//!
//! One model serves both builds, by a switch ([`Build`]):
//!
//! - **GIL-enabled**: at most one thread is attached. Python code may hand the GIL over to whoever
//!   waits for it.
//! - **Free-threaded**: any number of threads are attached. Python code may ask for a
//!   stop-the-world, which waits until every other thread is detached or has come to a safepoint.
//!
//! Code under test takes its locks from [`sync`], which is loom's under `--cfg loom` and std's
//! otherwise, so that the same file can be shipped and modelled. The rest exists only under
//! `--cfg loom`:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test --release -p interp-model
//! ```
//!
//! ```
//! # #[cfg(loom)] {
//! use interp_model::{Build, Interp, explore, spawn};
//!
//! explore(|| {
//!     let interp = Interp::new(Build::FreeThreaded);
//!     let other = interp.clone();
//!     let collector = spawn("collector", move || other.attach(|py| py.stop_the_world(|| ())));
//!     interp.attach(|py| py.run_python()).unwrap();
//!     collector.join().unwrap().unwrap();
//! });
//! # }
//! ```
//!
//! # What it leaves out
//!
//! A model has two or three threads: loom tries every order of their steps, and their number grows
//! fast. Reference counts, the collector's own work and the import lock are not in it. On the
//! free-threaded build attaching and detaching order threads here a little more than CPython does
//! (the model keeps its books under one lock), so a race that shows only between one thread's detach
//! and another's attach is not found: attach first, then do the step under test.
//!
//! [loom]: https://docs.rs/loom

#[cfg(loom)]
mod explore;
#[cfg(loom)]
mod interp;
#[cfg(loom)]
mod lock;
#[cfg(loom)]
mod once;
pub mod sync;
#[cfg(loom)]
pub mod trace;

#[cfg(loom)]
pub use explore::{explore, explore_bounded, spawn};
#[cfg(loom)]
pub use interp::{Build, Finalizing, Interp, Python};
#[cfg(loom)]
pub use lock::{Guard, Lock, ReadGuard, RwLock, WriteGuard};
#[cfg(loom)]
pub use once::OnceExt;
