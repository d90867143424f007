//! Compiles the C++ engine and the bridge to it.

use std::path::Path;

fn main() {
    let engine = Path::new("../../cpp/engine");
    let mut build = cxx_build::bridge("src/bridge.rs");
    build
        .std("c++20")
        .include(engine.join("include"))
        .include("include")
        .flag("-Wall")
        .flag("-Wextra")
        .warnings_into_errors(true)
        .opt_level(3);
    for name in ["column", "exact_sum", "cast", "kernels", "expr", "aggregate", "query"] {
        build.file(engine.join("src").join(name).with_extension("cc"));
    }
    build.file("src/bridge.cc").compile("ungil-engine");
    for dir in [engine.join("include"), engine.join("src"), "include".into(), "src".into()] {
        println!("cargo::rerun-if-changed={}", dir.display());
    }
}
