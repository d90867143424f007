//! One wheel of the template for each kind of build, made outside the workspace.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::python::{self, Env};
use crate::{paths, sh};

const LIMIT: Duration = Duration::from_secs(900);

/// A wheel, and the extension file in it.
pub struct Wheel {
    pub name: &'static str,
    pub file: PathBuf,
    pub extension: PathBuf,
}

/// Name, feature, build that it is made for, and whether its module declares that it needs no GIL.
const KINDS: [(&str, &str, &str, bool); 7] = [
    ("abi3", "abi3", "3.14", true),
    ("cp314", "", "3.14", true),
    ("cp314t", "", "3.14t", true),
    ("undeclared", "", "3.14t", false),
    ("abi3t", "abi3t", "3.15t", true),
    ("cp315", "", "3.15", true),
    ("cp315t", "", "3.15t", true),
];

/// Where the template is copied to, as a user would.
pub fn source() -> PathBuf {
    paths::local("wheels/source")
}

pub fn all(envs: &[(&str, Env)]) -> Result<Vec<Wheel>> {
    std::fs::create_dir_all(paths::local("wheels"))?;
    let tools = python::tool_environment()?;
    let mut wheels = Vec::new();
    for (name, feature, build, declares) in KINDS {
        let (_, env) = envs.iter().find(|(own, _)| *own == build).context("a build of the list")?;
        let step = sh::Step::new(format!("wheel {name}"));
        let out = paths::local(&format!("wheels/dist-{name}"));
        let _ = std::fs::remove_dir_all(&out);
        // Copied right before it is built: cargo goes by the files' times.
        let source = if declares { source() } else { paths::local("wheels/undeclared") };
        copy(&source, declares)?;
        let mut command = Command::new(tools.program("maturin"));
        command
            .args(["build", "--release", "--quiet", "--compatibility", "linux", "--manifest-path"])
            .arg(source.join("Cargo.toml"))
            .arg("--interpreter")
            .arg(env.python())
            .arg("--out")
            .arg(&out)
            .env("PYO3_PYTHON", env.python())
            // What the builds have in common is compiled once for each interpreter.
            .env("CARGO_TARGET_DIR", paths::local(&format!("target/wheels-{build}")));
        if !feature.is_empty() {
            command.args(["--features", feature]);
        }
        sh::run_within(&mut command, LIMIT).with_context(|| format!("the wheel {name}"))?;
        wheels.push(unpack(name, &out)?);
        step.done();
    }
    Ok(wheels)
}

pub fn named<'a>(wheels: &'a [Wheel], name: &str) -> Result<&'a Wheel> {
    wheels.iter().find(|one| one.name == name).with_context(|| format!("no wheel {name}"))
}

fn copy(to: &Path, declares: bool) -> Result<()> {
    let _ = std::fs::remove_dir_all(to);
    sh::run(
        Command::new("cp").arg("-r").arg(paths::root().join("examples/extension-template")).arg(to),
    )?;
    if !declares {
        let file = to.join("src/lib.rs");
        let text = std::fs::read_to_string(&file)?;
        let changed = text.replace("gil_used = false)]", "gil_used = true)]");
        if changed == text {
            bail!("the template no longer says gil_used = false");
        }
        std::fs::write(file, changed)?;
    }
    Ok(())
}

fn unpack(name: &'static str, out: &Path) -> Result<Wheel> {
    let file = std::fs::read_dir(out)?
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .find(|path| path.extension().is_some_and(|e| e == "whl"))
        .context("maturin reported success but left no wheel")?;
    let mut zip = zip::ZipArchive::new(std::fs::File::open(&file)?)?;
    let inside = zip
        .file_names()
        .filter_map(|name| Some(name.ok()?.into_owned()))
        .find(|one| one.ends_with(".so"))
        .context("the wheel has no extension")?;
    let extension = out.join(inside.rsplit('/').next().unwrap_or(&inside));
    std::io::copy(&mut zip.by_name(&inside)?, &mut std::fs::File::create(&extension)?)?;
    Ok(Wheel { name, file, extension })
}
