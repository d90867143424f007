// SOLUTION take
        let ticket = TICKETS.load(Ordering::SeqCst) + 1;
        TICKETS.store(ticket, Ordering::SeqCst);
        ticket
// END
