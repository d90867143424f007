//! The extension module: each lesson registers itself; there is no logic here.

use pyo3::prelude::*;

// Two modules of the lesson gil-declaration, which only an import can show at work; the library is
// loaded under their names too.
pub use gil_declaration::python::{rust_declared, rust_silent};

// `gil_used = false` is PyO3's default since 0.28; said here, since it is a promise that somebody
// has to have thought about: all state below is immutable or behind locks that no Python runs under.
#[pymodule(gil_used = false)]
fn _ungil(module: &Bound<'_, PyModule>) -> PyResult<()> {
    engine_python::register(module)?;
    udf_in_process::python::register(module)?;
    gil_declaration::python::register(module)?;
    import_cache::python::register(module)?;
    udf_registry::python::register(module)?;
    engine_singleton::python::register(module)?;
    eager_init::python::register(module)?;
    detach_before_block::python::register(module)?;
    attach_once::python::register(module)?;
    call_frame::python::register(module)?;
    shared_refcounts::python::register(module)?;
    string_fast_path::python::register(module)?;
    object_scan::python::register(module)?;
    arrow_zero_copy::python::register(module)?;
    whole_port::register(module)?;
    module.add_function(wrap_pyfunction!(ask_doctor, module)?)
}

/// `python -m ungil.doctor`: gives the exit status.
#[pyfunction(name = "doctor")]
fn ask_doctor(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    // It waits for threads and child processes.
    py.detach(|| doctor::cli::main(arguments, &mut std::io::stdout().lock()))
}
