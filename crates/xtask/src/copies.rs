//! `cargo xtask test copies`: each pattern copied out of the workspace, built and tested alone.
//!
//! A copy is a crate that has the files which `cargo xtask copy` writes, the dependencies under
//! `copy_needs`, and a small module around them (`copied/lib.rs`, `copied/test.py`). All copies share
//! one target folder for each interpreter, and nothing with the workspace but its Cargo.lock.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use lesson_kit::lesson::{self, Lesson};

use crate::extension::{self, Ready};
use crate::{copy, house, paths, sh};

const LIMIT: Duration = Duration::from_secs(1800);

pub fn run(ready: &[Ready]) -> Result<()> {
    let lessons = lesson::all(paths::root())?;
    let copied: Vec<&Lesson> = lessons.iter().filter(|one| !one.copy.is_empty()).collect();
    let folder = paths::local("copies");
    let _ = std::fs::remove_dir_all(&folder);
    let names: Vec<String> = copied.iter().map(|one| one.name.clone()).collect();
    house::workspace(&folder, &names)?;
    for one in &copied {
        copy(one, &folder.join(&one.name))
            .with_context(|| format!("copying the pattern of {}", one.name))?;
    }
    for one in ready {
        build(one, &folder)?;
        for lesson in &copied {
            test(one, &folder, lesson)?;
        }
        println!("{}: {} copies built and tested", one.interpreter.build.name(), copied.len());
    }
    Ok(())
}

fn copy(lesson: &Lesson, target: &Path) -> Result<()> {
    let source = paths::root().join("crates").join(&lesson.name);
    let src = target.join("src");
    std::fs::create_dir_all(&src)?;
    // As a user does it; the module around it calls the pattern `after`.
    std::fs::write(target.join("Cargo.toml"), "")?;
    copy::copy(lesson, target, true)?;
    let module = std::fs::read_to_string(source.join("copied/lib.rs"))
        .context("a lesson with a pattern has copied/lib.rs and copied/test.py")?;
    let name = lesson.name.replace('-', "_");
    let named = format!("mod {name};\nuse {name} as after;");
    std::fs::write(src.join("lib.rs"), module.replacen("mod after;", &named, 1))?;
    std::fs::copy(source.join("copied/test.py"), target.join("test.py"))?;
    let mut manifest = format!(
        "[package]\nname = \"copied-{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[lib]\n\
         crate-type = [\"cdylib\"]\n\n[dependencies]\n",
        lesson.name
    );
    manifest += &house::dependencies(&lesson.copy_needs)?.concat();
    let for_the_build = house::dependencies(&lesson.copy_build_needs)?.concat();
    manifest += &format!("\n[build-dependencies]\n{for_the_build}");
    std::fs::write(target.join("Cargo.toml"), manifest)?;
    Ok(())
}

fn build(ready: &Ready, folder: &Path) -> Result<()> {
    let name = ready.interpreter.build.name();
    let step = sh::Step::new(format!("building the copies for {name}"));
    let mut command = Command::new(env!("CARGO"));
    // In debug mode: what people run first, and where the checked lock speaks.
    command.args(["build", "--quiet", "--workspace"]).current_dir(folder);
    extension::environment_for(&mut command, &ready.env, &format!("copies-{name}"));
    sh::run_within(&mut command, LIMIT)?;
    step.done();
    Ok(())
}

fn test(ready: &Ready, copies: &Path, lesson: &Lesson) -> Result<()> {
    let name = ready.interpreter.build.name();
    let folder = copies.join(&lesson.name);
    let library = format!("libcopied_{}.so", lesson.name.replace('-', "_"));
    let built = paths::local(&format!("target/copies-{name}/debug")).join(library);
    std::fs::copy(&built, folder.join("copied.so"))?;
    let path: Vec<PathBuf> = vec![folder.clone(), folder.join("src")];
    let mut command = ready.env.command();
    command
        .args(["-W", "error"])
        .arg(folder.join("test.py"))
        .env("PYTHONPATH", std::env::join_paths(path)?);
    sh::run_within(&mut command, Duration::from_secs(120))
        .with_context(|| format!("the copy of {} on {name}", lesson.name))?;
    Ok(())
}
