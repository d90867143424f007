//! The C++ twins of the lessons, callable from the benches and tests of the Rust side.

use std::ffi::c_int;

use pyo3::ffi::PyObject;
use pyo3::prelude::*;

unsafe extern "C" {
    fn limit_c_loop_int64(
        function: *mut PyObject,
        a: *const i64,
        b: *const i64,
        rows: i64,
        threads: c_int,
        sum: *mut i64,
    ) -> bool;
    fn limit_c_loop_float64(
        function: *mut PyObject,
        a: *const f64,
        b: *const f64,
        rows: i64,
        threads: c_int,
        sum: *mut f64,
    ) -> bool;
}

mod sealed {
    pub trait Sealed: Copy + Default {
        const LOOP: super::Loop<Self>;
    }
}

type Loop<N> = unsafe extern "C" fn(*mut PyObject, *const N, *const N, i64, c_int, *mut N) -> bool;

/// What the C loop takes: `i64` and `f64`.
pub trait Number: sealed::Sealed {}

impl sealed::Sealed for i64 {
    const LOOP: Loop<i64> = limit_c_loop_int64;
}
impl sealed::Sealed for f64 {
    const LOOP: Loop<f64> = limit_c_loop_float64;
}
impl Number for i64 {}
impl Number for f64 {}

/// The limit of lesson `udf-in-process`: sums `function(a[i], b[i])` over all rows in a hand-written
/// C loop on `threads` threads, each attached once for all of its rows. Call it detached; `None`
/// after an exception, which is printed.
pub fn c_loop<N: Number>(function: &Py<PyAny>, a: &[N], b: &[N], threads: usize) -> Option<N> {
    assert_eq!(a.len(), b.len());
    let mut sum = N::default();
    // SAFETY: both slices hold `rows` values and outlive the call, which joins its threads; the
    // function is kept alive by `function`; the C side attaches before it touches it, on both builds.
    let ok = unsafe {
        let (rows, a, b) = (a.len() as i64, a.as_ptr(), b.as_ptr());
        N::LOOP(function.as_ptr(), a, b, rows, threads as c_int, &mut sum)
    };
    ok.then_some(sum)
}
