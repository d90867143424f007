//! Compiles cpp/twin against the headers of the interpreter that this build is for.

use std::path::Path;
use std::process::Command;

fn main() {
    let dir = Path::new("../../cpp/twin");
    println!("cargo::rerun-if-changed={}", dir.display());
    println!("cargo::rerun-if-env-changed=PYO3_PYTHON");
    let config = pyo3_build_config::get();
    let python = config.executable().expect("set PYO3_PYTHON, or use `cargo xtask`");
    let code = "import sysconfig; print(sysconfig.get_path('include'))";
    let output = Command::new(python).args(["-c", code]).output().expect("the interpreter runs");
    let include = String::from_utf8(output.stdout).expect("a path in UTF-8");
    cc::Build::new()
        .cpp(true)
        .std("c++20")
        .opt_level(3)
        .include(include.trim())
        .flag("-Wall")
        .flag("-Wextra")
        .warnings_into_errors(true)
        .file(dir.join("udf_in_process.cc"))
        .compile("ungil-twin");
}
