//! The C++ twins of the lessons, callable from the benches and tests of the Rust side.

use std::ffi::c_int;

use pyo3::prelude::*;

unsafe extern "C" {
    fn limit_c_loop(
        function: *mut pyo3::ffi::PyObject,
        a: *const i64,
        b: *const i64,
        rows: i64,
        block_rows: i64,
        threads: c_int,
        sum: *mut i64,
    ) -> bool;
}

/// The limit of lesson `udf-in-process`: sums `function(a[i], b[i])` over all rows in a hand-written
/// C loop on `threads` threads, each attached once for each block (0: for all of its rows). Call it
/// detached; `None` after an exception, which is printed.
pub fn c_loop(
    function: &Py<PyAny>,
    a: &[i64],
    b: &[i64],
    block_rows: usize,
    threads: usize,
) -> Option<i64> {
    assert_eq!(a.len(), b.len());
    let mut sum = 0;
    // SAFETY: both slices hold `rows` values and outlive the call, which joins its threads; the
    // function is kept alive by `function`; the C side attaches before it touches it, on both builds.
    let ok = unsafe {
        let (rows, block_rows) = (a.len() as i64, block_rows as i64);
        let (a, b) = (a.as_ptr(), b.as_ptr());
        limit_c_loop(function.as_ptr(), a, b, rows, block_rows, threads as c_int, &mut sum)
    };
    ok.then_some(sum)
}
