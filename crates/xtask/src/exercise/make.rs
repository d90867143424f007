//! From sources to a module that an interpreter can import, or to the compiler's words.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::text::{Exercise, Files, Language};
use crate::python::{Env, Interpreter};
use crate::{extension, paths, sh, twin};

const LIMIT: Duration = Duration::from_secs(1800);

/// An interpreter and its environment; the extension of the lessons is not needed here.
pub struct Place {
    pub interpreter: Interpreter,
    pub env: Env,
}

impl Place {
    pub fn build(&self) -> String {
        self.interpreter.build.name()
    }
}

/// What came of a package: the folder with `exercise.so`, or the compiler's errors.
pub type Made = std::result::Result<PathBuf, String>;

/// The manifest of a folder of exercises. Not of the workspace, whose builds stay as they are.
pub fn workspace(house: &Path, members: &[String]) -> Result<()> {
    std::fs::create_dir_all(house)?;
    let quoted: Vec<String> = members.iter().map(|name| format!("{name:?}")).collect();
    let text = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [{}]\n\n[profile.dev]\ndebug = \
         \"line-tables-only\"\n\n[profile.dev.package.\"*\"]\ndebug = false\n",
        quoted.join(", ")
    );
    write(&house.join("Cargo.toml"), &text)?;
    let lock = house.join("Cargo.lock");
    if !lock.exists() {
        std::fs::copy(paths::root().join("Cargo.lock"), lock)?;
    }
    Ok(())
}

/// The crate of an exercise, or the folder of its C++ file.
pub fn package(one: &Exercise, folder: &Path, name: &str, files: &Files) -> Result<()> {
    std::fs::create_dir_all(folder.join("src"))?;
    for (file, text) in files {
        write(&folder.join("src").join(file), text)?;
    }
    if one.language == Language::Rust {
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = \
             false\n\n[lib]\ncrate-type = [\"cdylib\"]\n\n[lints.rust]\nunexpected_cfgs = {{ level = \
             \"allow\" }}\n\n[dependencies]\n{}",
            needs(&one.needs)?
        );
        write(&folder.join("Cargo.toml"), &manifest)?;
    }
    Ok(())
}

fn needs(names: &[String]) -> Result<String> {
    let file = paths::root().join("Cargo.toml");
    let workspace: toml::Table = toml::from_str(&std::fs::read_to_string(file)?)?;
    let known = &workspace["workspace"]["dependencies"];
    let line = |name: &String| -> Result<String> {
        let wanted = known.get(name).with_context(|| format!("{name} is no shared dependency"))?;
        Ok(format!("{name} = {wanted}\n"))
    };
    names.iter().map(line).collect()
}

/// Only if it differs, so that nothing is compiled again for the sake of a date.
pub fn write(path: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|have| have == text) {
        return Ok(());
    }
    std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}

/// Builds packages of a folder of exercises; each gets its own answer.
pub fn rust(house: &Path, packages: &[String], place: &Place) -> Result<BTreeMap<String, Made>> {
    let mut command = cargo(house, packages);
    extension::environment_for(&mut command, &place.env, &format!("exercises-{}", place.build()));
    let told = json(&mut command)?;
    let mut made = BTreeMap::new();
    for name in packages {
        let library = name.replace('-', "_");
        let one = match told.files.get(&library) {
            Some(file) => {
                let folder = module_folder(&place.build(), name)?;
                // Not over the old one: a process that still runs has that file mapped.
                let part = folder.join("exercise.part");
                std::fs::copy(file, &part)?;
                std::fs::rename(part, folder.join("exercise.so"))?;
                Ok(folder)
            }
            None => Err(told.errors.get(&library).cloned().unwrap_or(told.rest.clone())),
        };
        made.insert(name.clone(), one);
    }
    Ok(made)
}

fn module_folder(build: &str, name: &str) -> Result<PathBuf> {
    let folder = paths::local(&format!("exercises/modules/{build}/{name}"));
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn cargo(house: &Path, packages: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(house).args(["build", "--quiet", "--keep-going"]);
    command.arg("--message-format=json");
    for name in packages {
        command.args(["-p", name]);
    }
    command
}

/// What cargo said, by the names of its targets.
struct Told {
    files: BTreeMap<String, PathBuf>,
    errors: BTreeMap<String, String>,
    /// What it said outside any package: a manifest that it cannot read, a registry out of reach.
    rest: String,
}

fn json(command: &mut Command) -> Result<Told> {
    let output = sh::output_within(command, LIMIT)?;
    let mut told = Told {
        files: BTreeMap::new(),
        errors: BTreeMap::new(),
        rest: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(value) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let name = value["target"]["name"].as_str().unwrap_or_default().to_owned();
        match value["reason"].as_str() {
            Some("compiler-artifact") => {
                let files = value["filenames"].as_array().into_iter().flatten();
                let made = value["executable"].as_str().map(str::to_owned).or_else(|| {
                    let mut names = files.filter_map(|file| file.as_str());
                    names.find(|file| file.ends_with(".so")).map(str::to_owned)
                });
                told.files.extend(made.map(|file| (name, PathBuf::from(file))));
            }
            Some("compiler-message") if value["message"]["level"] == "error" => {
                let text = value["message"]["rendered"].as_str().unwrap_or_default();
                *told.errors.entry(name).or_default() += text;
            }
            _ => {}
        }
    }
    Ok(told)
}

/// Compiles the C++ of an exercise.
pub fn cpp(folder: &Path, name: &str, place: &Place, tsan: bool) -> Result<Made> {
    let build = if tsan { "tsan".to_owned() } else { place.build() };
    let out = module_folder(&build, name)?;
    let code = "import sysconfig; print(sysconfig.get_path('include'))";
    let include = sh::run(place.env.command().args(["-c", code]))?;
    let include = String::from_utf8_lossy(&include.stdout).trim().to_owned();
    let part = out.join("exercise.part");
    let mut command = Command::new(twin::compiler());
    command
        .current_dir(folder)
        .args(["-std=c++20", "-O1", "-g", "-fPIC", "-shared", "-Wall", "-Wextra"])
        .arg(format!("-isystem{include}"))
        .arg(format!("-I{}", super::text::folder().display()))
        .args(tsan.then_some("-fsanitize=thread"))
        .args(["src/exercise.cc", "-o"])
        .arg(&part);
    let output = sh::output_within(&mut command, LIMIT)?;
    if !output.status.success() {
        return Ok(Err(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    std::fs::rename(part, out.join("exercise.so"))?;
    Ok(Ok(out))
}

/// Builds the model programs: for each package, the files that are modelled and `model.rs`.
pub fn models(wanted: &[(&Exercise, String, PathBuf)]) -> Result<BTreeMap<String, Made>> {
    let house = paths::local("exercises/models");
    let members: Vec<String> = wanted.iter().map(|(_, name, _)| name.clone()).collect();
    workspace(&house, &members)?;
    let runner = paths::root().join("crates/models/src/run.rs");
    for (one, name, sources) in wanted {
        let src = house.join(name).join("src");
        std::fs::create_dir_all(&src)?;
        std::fs::copy(&runner, src.join("run.rs"))?;
        std::fs::copy(one.folder().join("model.rs"), src.join("model.rs"))?;
        let mut main = String::from(
            "#![allow(dead_code, unused_imports)]\nmod run;\nmod model;\nmod sync {\n    pub use \
             interp_model::sync::*;\n}\n",
        );
        for file in &one.modelled {
            std::fs::copy(sources.join(file), src.join(file))?;
            main += &format!("mod {};\n", file.trim_end_matches(".rs"));
        }
        main += "mod lessons {\n    pub const LESSONS: &[(&str, &[crate::run::Model])] = \
                 &[(\"exercise\", crate::model::MODELS)];\n}\nfn main() -> std::process::ExitCode {\n    \
                 run::main()\n}\n";
        write(&src.join("main.rs"), &main)?;
        let model = paths::root().join("crates/interp-model");
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
             interp-model = {{ path = {model:?} }}\n",
        );
        write(&house.join(name).join("Cargo.toml"), &manifest)?;
    }
    let mut command = cargo(&house, &members);
    command.env("RUSTFLAGS", "--cfg loom");
    command.env("CARGO_TARGET_DIR", paths::local("target/exercises-loom"));
    let told = json(&mut command)?;
    let answer = |name: String| {
        let made = match told.files.get(&name) {
            Some(file) => Ok(file.clone()),
            None => Err(told.errors.get(&name).cloned().unwrap_or(told.rest.clone())),
        };
        (name, made)
    };
    Ok(members.into_iter().map(answer).collect())
}
