//! Compiles the C++. `lines.cc` knows nothing of Python and is in each wheel; `lengths.cc` looks into
//! strings by CPython's inline functions, which the stable ABIs do not have.

use std::process::Command;

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-env-changed=PYO3_PYTHON");
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").warnings_into_errors(true).file("src/lines.cc");
    let config = pyo3_build_config::get();
    let stable = std::env::var_os("CARGO_FEATURE_ABI3T").is_some()
        || (std::env::var_os("CARGO_FEATURE_ABI3").is_some() && !config.is_free_threaded());
    if !stable {
        build.file("src/lengths.cc").flag(format!("-isystem{}", include(config.executable())));
        println!("cargo::rustc-cfg=inline_strings");
    }
    println!("cargo::rustc-check-cfg=cfg(inline_strings)");
    build.compile("fastlines");
}

fn include(python: Option<&str>) -> String {
    let code = "import sysconfig; print(sysconfig.get_path('include'), end='')";
    let python = python.expect("building for an interpreter needs one: set PYO3_PYTHON");
    let output = Command::new(python).args(["-c", code]).output().expect("the interpreter runs");
    String::from_utf8(output.stdout).expect("a path in UTF-8")
}
