//! The order in which an interpreter is looked for.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::{Build, Interpreter, assemble, pip, verify::verify};
use crate::{paths, sh};

/// Looks up an environment variable.
type Variables = Box<dyn Fn(&str) -> Option<String>>;

/// What resolution needs to know of the machine; tests give it a fake one.
pub struct Machine {
    pub variable: Variables,
    /// The folders of PATH.
    pub path: Vec<PathBuf>,
    /// uv, if it is there without being fetched.
    pub uv: Option<PathBuf>,
    /// Fetches uv from the package index.
    pub fetch_uv: fn() -> Result<PathBuf>,
    /// Where an assembly of an earlier run would be.
    pub assembled: Box<dyn Fn(Build) -> PathBuf>,
    /// Puts an interpreter together from published parts.
    pub assemble: fn(Build) -> Result<PathBuf>,
}

impl Machine {
    pub fn this() -> Self {
        let path: Vec<PathBuf> = std::env::var_os("PATH")
            .map(|p| std::env::split_paths(&p).collect())
            .unwrap_or_default();
        let fetched = paths::local("tools/uv");
        let uv = on_path(&path, "uv").or(fetched.is_file().then_some(fetched));
        Self {
            variable: Box::new(|name| std::env::var(name).ok()),
            path,
            uv,
            fetch_uv: pip::fetch_uv,
            assembled: Box::new(assemble::executable),
            assemble: assemble::assemble,
        }
    }
}

fn on_path(path: &[PathBuf], name: &str) -> Option<PathBuf> {
    path.iter().map(|dir| dir.join(name)).find(|candidate| candidate.is_file())
}

/// Finds, fetches or assembles an interpreter of `build`, and checks it.
///
/// A variable that names a wrong interpreter is an error: the user meant it. A wrong one on PATH
/// is passed over with a word, since PATH was not set for us.
pub fn resolve(build: Build, machine: &Machine) -> Result<Interpreter> {
    let name = build.name();
    let variable = build.variable();
    if let Some(value) = (machine.variable)(&variable).filter(|v| !v.is_empty()) {
        let exe = PathBuf::from(value);
        if !exe.is_file() {
            bail!("{variable} names {}, which is not a file", exe.display());
        }
        let facts = verify(&exe, build).with_context(|| format!("{variable} is set"))?;
        return Ok(Interpreter { build, exe, how: format!("named by {variable}"), facts });
    }

    let mut passed = Vec::new();
    if let Some(found) = on_path(&machine.path, &format!("python{name}")) {
        match verify(&found, build) {
            Ok(facts) => {
                return Ok(Interpreter { build, exe: found, how: "found on PATH".into(), facts });
            }
            Err(error) => passed.push(format!("on PATH: {error:#}")),
        }
    }

    // A finished assembly of an earlier run comes before uv is asked for a download again.
    let assembled = (machine.assembled)(build);
    if assembled.is_file() {
        let facts = verify(&assembled, build).with_context(|| {
            format!("remove {} and try again", paths::shown(&assemble::prefix(build)))
        })?;
        let how = "assembled earlier from published parts".into();
        return Ok(Interpreter { build, exe: assembled, how, facts });
    }

    match with_uv(build, machine) {
        Ok((exe, how)) => match verify(&exe, build) {
            Ok(facts) => return Ok(Interpreter { build, exe, how, facts }),
            Err(error) => passed.push(format!("from uv: {error:#}")),
        },
        Err(error) => passed.push(format!("from uv: {}", first_lines(&format!("{error:#}"), 3))),
    }

    for line in &passed {
        eprintln!("   {name} passed over, {line}");
    }
    let exe = (machine.assemble)(build).with_context(|| {
        format!("no way led to a CPython {name}. Set {variable} to one, or see the book's appendix")
    })?;
    let facts = verify(&exe, build)?;
    Ok(Interpreter { build, exe, how: "assembled from published parts".into(), facts })
}

fn first_lines(text: &str, count: usize) -> String {
    text.lines().map(str::trim).filter(|l| !l.is_empty()).take(count).collect::<Vec<_>>().join(" ")
}

fn with_uv(build: Build, machine: &Machine) -> Result<(PathBuf, String)> {
    let uv = match &machine.uv {
        Some(uv) => uv.clone(),
        None => (machine.fetch_uv)()?,
    };
    if let Ok(exe) = uv_find(&uv, build) {
        return Ok((exe, "one that uv has".into()));
    }
    let step = sh::Step::new(format!("uv python install {}", build.name()));
    let install = sh::run_within(
        Command::new(&uv)
            .args(["python", "install", &build.name()])
            // On a closed network the answer is a refusal: one try tells it.
            .env("UV_HTTP_RETRIES", "0")
            .env("UV_HTTP_CONNECT_TIMEOUT", "10")
            .env("UV_PYTHON_INSTALL_DIR", paths::local("uv-pythons")),
        Duration::from_secs(300),
    );
    step.done();
    install?;
    Ok((uv_find(&uv, build)?, "downloaded by uv".into()))
}

/// Looks among the interpreters that uv manages for the user, then among this checkout's own.
fn uv_find(uv: &Path, build: Build) -> Result<PathBuf> {
    let ask = |own: bool| {
        let mut command = Command::new(uv);
        command.args(["python", "find", "--no-python-downloads", "--managed-python"]);
        if own {
            command.env("UV_PYTHON_INSTALL_DIR", paths::local("uv-pythons"));
        }
        sh::run_within(command.arg(build.name()), Duration::from_secs(60))
    };
    let output = ask(false).or_else(|_| ask(true))?;
    let exe = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    if !exe.is_file() {
        bail!("uv named {}, which is not a file", exe.display());
    }
    Ok(exe)
}
