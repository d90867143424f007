//! Compiles src/after/strings.c against the headers of the interpreter that this build is for: on
//! CPython 3.14 PyO3 has none of the inline macros that look into a string.

use std::path::Path;
use std::process::Command;

fn main() {
    let file = Path::new("src/after/strings.c");
    // Whether this build has a GIL: `cfg(Py_GIL_DISABLED)`.
    pyo3_build_config::use_pyo3_cfgs();
    println!("cargo::rerun-if-changed={}", file.display());
    println!("cargo::rerun-if-env-changed=PYO3_PYTHON");
    let config = pyo3_build_config::get();
    let python = config.executable().expect("set PYO3_PYTHON");
    let code = "import sysconfig; print(sysconfig.get_path('include'))";
    let output = Command::new(python).args(["-c", code]).output().expect("the interpreter runs");
    let include = String::from_utf8(output.stdout).expect("a path in UTF-8");
    cc::Build::new()
        .std("c11")
        .opt_level(3)
        // The interpreter's headers are not ours to warn about.
        .flag(format!("-isystem{}", include.trim()))
        .flag("-Wall")
        .flag("-Wextra")
        .warnings_into_errors(true)
        .file(file)
        .compile("ungil-strings");
}
