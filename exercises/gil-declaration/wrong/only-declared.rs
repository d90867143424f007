// SOLUTION use
use std::cell::UnsafeCell;
// END
// SOLUTION state
struct Tickets(UnsafeCell<u64>);

// SAFETY: the GIL lets one thread in at a time.
unsafe impl Sync for Tickets {}

static TICKETS: Tickets = Tickets(UnsafeCell::new(0));
// END
// SOLUTION take
        // SAFETY: as above.
        unsafe {
            *TICKETS.0.get() += 1;
            *TICKETS.0.get()
        }
// END
