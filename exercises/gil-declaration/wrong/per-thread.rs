// SOLUTION use
use std::cell::Cell;
// END
// SOLUTION state
thread_local!(static TICKETS: Cell<u64> = const { Cell::new(0) });
// END
// SOLUTION take
        TICKETS.with(|tickets| {
            tickets.set(tickets.get() + 1);
            tickets.get()
        })
// END
