// SOLUTION use
// END
// SOLUTION state
// END
// SOLUTION take
        1
// END
