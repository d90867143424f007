//! Is this interpreter the build it is taken for? Asked of the interpreter itself.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::Build;
use crate::sh;

/// What an interpreter says of itself.
#[derive(Clone, Debug, Deserialize)]
pub struct Facts {
    pub version: String,
    pub implementation: String,
    pub minor: u8,
    pub free_threaded_build: bool,
    pub gil_enabled: bool,
    pub include: String,
    pub has_header: bool,
    /// The C extension modules that did not import, with the reason.
    pub failed_imports: Vec<String>,
}

const PROBE: &str = r#"
import importlib, json, os, platform, sys, sysconfig
failed = []
# Two that live in files of their own in every build, and one that needs a foreign library.
for name in ("_struct", "math", "_ctypes"):
    try:
        importlib.import_module(name)
    except Exception as error:
        failed.append(f"{name}: {error}")
include = sysconfig.get_path("include")
print(json.dumps({
    "version": platform.python_version(),
    "implementation": platform.python_implementation(),
    "minor": sys.version_info[1] if sys.version_info[0] == 3 else 0,
    "free_threaded_build": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "gil_enabled": getattr(sys, "_is_gil_enabled", lambda: True)(),
    "include": include,
    "has_header": os.path.exists(os.path.join(include, "Python.h")),
    "failed_imports": failed,
}))
"#;

/// Asks the interpreter and refuses it, saying what to do, if it is not `build`.
pub fn verify(exe: &Path, build: Build) -> Result<Facts> {
    let facts = ask(exe)?;
    check(&facts, build).with_context(|| {
        format!("{} cannot serve as the {} interpreter", exe.display(), build.name())
    })?;
    Ok(facts)
}

fn ask(exe: &Path) -> Result<Facts> {
    let output = sh::run_within(
        // -I: the user's site-packages and PYTHON* paths must not colour the answer. PYTHON_GIL
        // is ignored under -I, so it is passed on as the option that it stands for.
        Command::new(exe).args(gil_option()).args(["-I", "-c", PROBE]),
        Duration::from_secs(60),
    )
    .with_context(|| format!("{} does not run as a Python interpreter", exe.display()))?;
    serde_json::from_slice(&output.stdout).with_context(|| {
        format!(
            "{} answered something else than a Python interpreter would: {}",
            exe.display(),
            String::from_utf8_lossy(&output.stdout)
        )
    })
}

fn gil_option() -> Vec<String> {
    match std::env::var("PYTHON_GIL") {
        Ok(value) if value == "1" => vec!["-Xgil=1".into()],
        _ => vec![],
    }
}

pub(super) fn check(facts: &Facts, build: Build) -> Result<()> {
    let name = build.name();
    let variable = build.variable();
    if facts.implementation != "CPython" {
        bail!("it is {}; set {variable} to a CPython {name}", facts.implementation);
    }
    if facts.minor != build.minor {
        bail!(
            "it is version {}; set {variable} to a CPython 3.{} or unset it, and \
             `cargo xtask python` fetches one",
            facts.version,
            build.minor
        );
    }
    if facts.free_threaded_build != build.free_threaded {
        let (is, wanted) = if build.free_threaded {
            ("a GIL-enabled build", "a free-threaded build (its name ends in t)")
        } else {
            ("a free-threaded build", "a GIL-enabled build (its name has no t)")
        };
        bail!(
            "it is {is} of {}; {name} needs {wanted}. Set {variable} to one or unset it, and \
             `cargo xtask python` fetches one",
            facts.version
        );
    }
    if build.free_threaded && facts.gil_enabled {
        bail!(
            "it is a free-threaded build, but its GIL is on at start-up: PYTHON_GIL=1 is set, or \
             a module that start-up imports turned it on. Unset PYTHON_GIL; if it stays on, run \
             it with -v and look for \"has been enabled to load module\""
        );
    }
    if !facts.has_header {
        bail!(
            "it has no Python.h in {}; install its development headers (Debian: libpython3.{}-dev)",
            facts.include,
            build.minor
        );
    }
    if let Some(first) = facts.failed_imports.first() {
        bail!("it cannot import a C extension module of its standard library: {first}");
    }
    Ok(())
}
