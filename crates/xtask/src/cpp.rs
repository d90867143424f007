//! The C++ lanes: the engine's tests under sanitizers, and the formatter's check.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::{paths, python, sh};

const LIMIT: Duration = Duration::from_secs(600);

fn sources(folder: &str) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = walkdir::WalkDir::new(paths::root().join(folder))
        .into_iter()
        .filter_map(|entry| entry.ok().map(|e| e.into_path()))
        .filter(|path| path.extension().is_some_and(|e| e == "cc" || e == "h" || e == "c"))
        .collect();
    files.sort();
    if files.is_empty() {
        bail!("no C++ below {folder}");
    }
    Ok(files)
}

/// Builds the engine with its tests and `-fsanitize=<sanitizer>`, and runs them.
pub fn sanitized(sanitizer: &str) -> Result<()> {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "g++".into());
    let folder = paths::root().join("cpp/engine");
    let program = paths::local(&format!("cpp/engine-test-{}", sanitizer.replace(',', "-")));
    let is_cc = |path: &&PathBuf| path.extension().is_some_and(|e| e == "cc");
    let all = sources("cpp/engine")?;
    let mut command = Command::new(&compiler);
    command
        .args(["-std=c++20", "-g", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror"])
        .arg(format!("-fsanitize={sanitizer}"))
        .arg("-fno-sanitize-recover=all")
        .arg("-I")
        .arg(folder.join("include"))
        .args(all.iter().filter(is_cc))
        .arg("-o")
        .arg(&program);
    sh::run_within(&mut command, LIMIT)
        .context("the engine does not compile with this sanitizer; set CXX to a g++ or clang++")?;
    // ThreadSanitizer wants the old layout of the address space; setarch gives it where it exists.
    let mut run = if sanitizer == "thread" && Path::new("/usr/bin/setarch").exists() {
        let mut run = Command::new("setarch");
        run.arg("-R").arg(&program);
        run
    } else {
        Command::new(&program)
    };
    let output = sh::run_within(&mut run, LIMIT)?;
    print!("{}", String::from_utf8_lossy(&output.stdout));
    Ok(())
}

/// clang-format, as a check or over the files.
pub fn format(write: bool) -> Result<()> {
    let tools = python::tool_environment()?;
    let mut files = sources("cpp")?;
    files.extend(sources("crates/engine")?);
    files.extend(sources("crates/string-fast-path")?);
    let mut command = Command::new(tools.program("clang-format"));
    command.args(if write { &["-i"][..] } else { &["--dry-run", "-Werror"][..] }).args(files);
    sh::run(&mut command).context("run `cargo xtask fmt`")?;
    Ok(())
}
