// SOLUTION declaration
#[pymodule(gil_used = true)]
// END
