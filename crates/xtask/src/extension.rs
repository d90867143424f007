//! The extension, built in release mode for each interpreter and installed in its environment.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::python::{self, Build, Env, Interpreter, Machine};
use crate::{hash, paths, sh};

/// A first build compiles everything on two cores; a machine that needs longer is stuck.
const LIMIT: Duration = Duration::from_secs(3600);

/// Files of a lesson that never reach the extension; editing them costs no build.
const NOT_COMPILED: [&str; 6] =
    ["lesson.toml", "README.md", "model.rs", "faults.py", "tests", "copied"];

/// An interpreter and an environment of its own; from [`ready`], with the extension installed in it.
pub struct Ready {
    pub interpreter: Interpreter,
    pub env: Env,
}

impl Ready {
    /// The build's name.
    pub fn build(&self) -> String {
        self.interpreter.build.name()
    }
}

/// Prepares `builds`: interpreter, environment, extension. What is there and current stays. While one
/// extension compiles, the next interpreter is fetched: on a fresh machine that is half a minute.
pub fn ready(builds: &[Build]) -> Result<Vec<Ready>> {
    std::thread::scope(|scope| {
        let (send, prepared) = mpsc::channel();
        scope.spawn(move || {
            for build in builds {
                let one = prepare(*build);
                let failed = one.is_err();
                if send.send(one).is_err() || failed {
                    break;
                }
            }
        });
        prepared
            .iter()
            .map(|one| {
                let one = one?;
                install(&one.interpreter, &one.env)?;
                Ok(one)
            })
            .collect()
    })
}

/// Without the extension, for what does not need the lessons' code.
pub fn prepare(build: Build) -> Result<Ready> {
    let interpreter = python::resolve(build, &Machine::this())?;
    let env = python::environment(&interpreter, "test")?;
    Ok(Ready { interpreter, env })
}

fn install(interpreter: &Interpreter, env: &Env) -> Result<()> {
    let root = paths::root();
    // Everything that the extension is made of: all crates but the one that runs them.
    let mut sources: Vec<PathBuf> = std::fs::read_dir(root.join("crates"))?
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| !["xtask", "interp-model", "models"].iter().any(|name| path.ends_with(name)))
        .chain(["cpp", "Cargo.toml", "Cargo.lock"].map(|name| root.join(name)))
        .collect();
    sources.sort();
    let paths_of: Vec<&Path> = sources.iter().map(|path| path.as_path()).collect();
    let wanted = hash::text(&format!(
        "{} {} {}",
        interpreter.exe.display(),
        interpreter.facts.version,
        hash::tree(&paths_of, &NOT_COMPILED)?
    ));
    let stamp = env.dir.join("ungil-extension-stamp");
    if std::fs::read_to_string(&stamp).is_ok_and(|have| have == wanted) {
        return Ok(());
    }
    let name = interpreter.build.name();
    let step = sh::Step::new(format!("extension for {name} (the first build takes minutes)"));
    let wheels = tempfile::tempdir_in(paths::local("."))?;
    let tools = python::tool_environment()?;
    let mut build = Command::new(tools.program("maturin"));
    build
        .args(["build", "--release", "--locked", "--quiet", "--compatibility", "linux"])
        .arg("--manifest-path")
        .arg(root.join("crates/ungil/Cargo.toml"))
        .arg("--interpreter")
        .arg(env.python())
        .arg("--out")
        .arg(wheels.path());
    environment_for(&mut build, env, &name);
    seed_target(&name)?;
    sh::run_within(&mut build, LIMIT).context(
        "the extension did not build; it needs Rust and a C++20 compiler (g++ 12 or clang 15)",
    )?;
    let wheel = std::fs::read_dir(wheels.path())?
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .find(|path| path.extension().is_some_and(|e| e == "whl"));
    let Some(wheel) = wheel else { bail!("maturin reported success but left no wheel") };
    env.install(&wheel)?;
    compile(env)?;
    std::fs::write(stamp, wanted)?;
    step.done();
    Ok(())
}

/// A target folder for each build, since in one the builds would evict each other; a new one starts
/// as a copy of another's, so that what knows nothing of Python (arrow, the C++) compiles once.
fn seed_target(name: &str) -> Result<()> {
    let target = paths::local(&format!("target/{name}"));
    if target.exists() {
        return Ok(());
    }
    let folder = paths::local("target/.");
    let other = std::fs::read_dir(&folder).ok().and_then(|mut entries| entries.next());
    if let Some(other) = other {
        let part = paths::local("target-part");
        let _ = std::fs::remove_dir_all(&part);
        sh::run(Command::new("cp").arg("-a").arg(other?.path()).arg(&part))?;
        std::fs::rename(&part, &target)?;
    }
    Ok(())
}

/// What cargo needs to know to build for an interpreter.
pub fn environment_for(command: &mut Command, env: &Env, name: &str) {
    command
        .env("PYO3_PYTHON", env.python())
        .env("PYO3_BUILD_EXTENSION_MODULE", "1")
        .env("CARGO_TARGET_DIR", paths::local(&format!("target/{name}")));
}

/// Compiles what was just installed: see the note on `.pyc` at [`Env::command`].
fn compile(env: &Env) -> Result<()> {
    let code = "import compileall, importlib.util as u, os, sys; \
                d = os.path.dirname(u.find_spec('ungil').origin); \
                sys.exit(not compileall.compile_dir(d, quiet=1))";
    sh::run(env.command().args(["-c", code]))?;
    Ok(())
}
