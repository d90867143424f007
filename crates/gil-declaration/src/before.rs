//! Before: state that the GIL had been guarding.

use std::cell::UnsafeCell;

// ANCHOR: before
/// How often the module was called.
///
/// Thread-safety: none, whatever `Sync` says: every call was one step while there was a GIL.
struct Calls(UnsafeCell<u64>);

// SAFETY: there is none; this is the fault of the lesson. It is what a `static mut`, or a C++ global
// behind a wrapper, comes to.
unsafe impl Sync for Calls {}

static CALLS: Calls = Calls(UnsafeCell::new(0));

// Not inlined: a loop over it must stay a loop of calls.
#[inline(never)]
pub fn count() -> u64 {
    // SAFETY: there is none: on the free-threaded build two threads are here at once.
    unsafe {
        *CALLS.0.get() += 1;
        *CALLS.0.get()
    }
}
// ANCHOR_END: before
