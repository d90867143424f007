// SOLUTION state
volatile long tickets = 0;
// END
// SOLUTION take
    tickets = tickets + 1;
    return PyLong_FromLong(tickets);
// END
