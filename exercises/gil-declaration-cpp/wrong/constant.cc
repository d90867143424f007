// SOLUTION take
    return PyLong_FromLong(tickets.load() + 1);
// END
