// SOLUTION use
use std::sync::atomic::{AtomicU64, Ordering};
// STARTER
// use std::cell::UnsafeCell;
// END

use pyo3::prelude::*;

// SOLUTION state
/// Thread-safety: internally synchronised.
static TICKETS: AtomicU64 = AtomicU64::new(0);
// STARTER
// struct Tickets(UnsafeCell<u64>);
//
// // SAFETY: the GIL lets one thread in at a time.
// unsafe impl Sync for Tickets {}
//
// static TICKETS: Tickets = Tickets(UnsafeCell::new(0));
// END

// SOLUTION declaration
#[pymodule(gil_used = false)]
// STARTER
// #[pymodule(gil_used = true)]
// END
mod exercise {
    use super::*;

    /// The next ticket.
    #[pyfunction]
    fn take() -> u64 {
        // SOLUTION take
        // Relaxed: the number orders nothing else.
        TICKETS.fetch_add(1, Ordering::Relaxed) + 1
        // STARTER
        // // SAFETY: as above.
        // unsafe {
        //     *TICKETS.0.get() += 1;
        //     *TICKETS.0.get()
        // }
        // END
    }
}
