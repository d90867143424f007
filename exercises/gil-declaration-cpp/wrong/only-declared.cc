// SOLUTION state
long tickets = 0;
// END
// SOLUTION take
    ++tickets;
    return PyLong_FromLong(tickets);
// END
