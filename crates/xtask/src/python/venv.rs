//! A virtual environment for each interpreter, filled by uv from an exact list of packages.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::{Interpreter, resolve::Machine};
use crate::{hash, paths, sh};

const LIMIT: Duration = Duration::from_secs(900);

/// A virtual environment that holds what its requirement list says.
#[derive(Clone, Debug)]
pub struct Env {
    pub dir: PathBuf,
}

impl Env {
    pub fn python(&self) -> PathBuf {
        self.dir.join("bin/python")
    }

    pub fn program(&self, name: &str) -> PathBuf {
        self.dir.join("bin").join(name)
    }

    /// A Python command in which free threading can be measured: see facts on `.pyc` in the book.
    ///
    /// Bytecode is read from a folder of this environment and written there if it is missing;
    /// without it, the free-threaded build contends on the constants of every imported module.
    pub fn command(&self) -> Command {
        let mut command = Command::new(self.python());
        self.environment_of(&mut command);
        command
    }

    pub fn environment_of(&self, command: &mut Command) {
        command
            .env_remove("PYTHONDONTWRITEBYTECODE")
            .env_remove("PYTHONHOME")
            .env_remove("PYTHONPATH")
            .env_remove("PYTHON_GIL")
            .env("PYTHONPYCACHEPREFIX", self.dir.join("pycache"))
            .env("VIRTUAL_ENV", &self.dir);
    }

    /// Installs a file (a wheel) over what is there.
    pub fn install(&self, file: &Path) -> Result<()> {
        sh::run_within(
            uv()?
                .args(["pip", "install", "--no-deps", "--reinstall", "--python"])
                .arg(self.python())
                .arg(file),
            LIMIT,
        )?;
        Ok(())
    }
}

/// uv, with its cache below `.ungil`.
pub fn uv() -> Result<Command> {
    let machine = Machine::this();
    let uv = match machine.uv {
        Some(uv) => uv,
        None => (machine.fetch_uv)()?,
    };
    let mut command = Command::new(uv);
    // One cache for all environments of this checkout, and none outside it.
    command.env("UV_CACHE_DIR", paths::local("uv-cache")).env_remove("VIRTUAL_ENV");
    Ok(command)
}

/// The environment of `interpreter` with `requirements/<list>.txt`, made if it is not there.
pub fn environment(interpreter: &Interpreter, list: &str) -> Result<Env> {
    let dir = paths::local(&format!("venv/{}-{list}", interpreter.build.name()));
    fill(&interpreter.exe, &interpreter.facts.version, list, dir)
}

/// Programs (maturin, clang-format) in an environment of whatever Python 3 this machine has.
pub fn tool_environment() -> Result<Env> {
    fill(Path::new("python3"), "tools", "tools", paths::local("venv/tools"))
}

/// Checkers of workflows, likewise; apart, since nobody waits for them before a first number.
pub fn lint_environment() -> Result<Env> {
    fill(Path::new("python3"), "lint", "lint", paths::local("venv/lint"))
}

fn fill(exe: &Path, version: &str, list: &str, dir: PathBuf) -> Result<Env> {
    let requirements = paths::root().join(format!("requirements/{list}.txt"));
    let text = std::fs::read_to_string(&requirements)
        .with_context(|| format!("{} is missing", paths::shown(&requirements)))?;
    let wanted = hash::text(&format!("{}\n{version}\n{text}", exe.display()));
    let stamp = dir.join("ungil-stamp");
    let env = Env { dir };
    if std::fs::read_to_string(&stamp).is_ok_and(|have| have == wanted) {
        return Ok(env);
    }
    let step = sh::Step::new(format!("environment {}", paths::shown(&env.dir)));
    if env.dir.exists() {
        std::fs::remove_dir_all(&env.dir)?;
    }
    sh::run(Command::new(exe).args(["-m", "venv", "--without-pip"]).arg(&env.dir))
        .context("python3 cannot make a virtual environment (Debian: install python3-venv)")?;
    let mut install = uv()?;
    install.args(["pip", "install", "--python"]).arg(env.python()).arg("-r").arg(&requirements);
    sh::run_within(&mut install, LIMIT).with_context(|| {
        format!("could not install {}; is a package index reachable?", paths::shown(&requirements))
    })?;
    // The standard library and the packages, once, so that no measured process compiles. In the
    // environments of tools nothing is measured; the peers run on the GIL-enabled build, where
    // constants are not contended, and they warm up.
    if list == "tools" || list == "lint" || list.starts_with("peer-") {
        std::fs::write(stamp, wanted)?;
        step.done();
        return Ok(env);
    }
    let compile = "import compileall, sys, sysconfig; p = sysconfig.get_path; \
                   sys.exit(not all(compileall.compile_dir(p(n), quiet=2, workers=0) or n == 'purelib' \
                   for n in ('stdlib', 'purelib')))";
    let _ = sh::run_within(env.command().args(["-c", compile]), LIMIT);
    std::fs::write(stamp, wanted)?;
    step.done();
    Ok(env)
}
