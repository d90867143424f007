//! From sources to a module that an interpreter can import, or to the compiler's words.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::source::Files;
use super::text::{Exercise, Kind, Language};
use crate::extension::{self, Ready};
use crate::{house, paths, pool, sh, twin};

const LIMIT: Duration = Duration::from_secs(1800);

/// What came of a package: the folder with `exercise.so`, or the compiler's errors.
pub type Made = std::result::Result<PathBuf, String>;

/// What was made of each package, and for what: see [`Slot`].
pub type All = BTreeMap<(String, Slot), Made>;

/// What a check needs of a package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    /// The module for a build.
    Module(String),
    /// The module with ThreadSanitizer.
    Tsan,
    /// The program of its models.
    Model,
}

impl Slot {
    pub fn of(kind: Kind, build: &str) -> Self {
        match kind {
            Kind::Python => Self::Module(build.to_owned()),
            Kind::Tsan => Self::Tsan,
            Kind::Model => Self::Model,
        }
    }
}

/// A package that is to be built: an exercise in somebody's version.
pub struct Job<'a> {
    pub exercise: &'a Exercise,
    pub name: String,
    pub folder: PathBuf,
    /// What its checks on this build need.
    pub slots: Vec<Slot>,
}

/// Builds what the jobs need on one build; each gets its own answer. Rust packages lie in `house`.
pub fn build(house: &Path, jobs: &[Job], place: &Ready, all: &mut All) -> Result<()> {
    let module = Slot::Module(place.build());
    let wants = |slot: &Slot, language| {
        let fits = |job: &&Job| job.exercise.language == language && job.slots.contains(slot);
        jobs.iter().filter(fits).collect::<Vec<&Job>>()
    };
    let of_rust = wants(&module, Language::Rust);
    if !of_rust.is_empty() {
        all.extend(rust(house, &of_rust, place)?);
    }
    let modelled = wants(&Slot::Model, Language::Rust);
    if !modelled.is_empty() {
        all.extend(models(&modelled)?);
    }
    let of_cpp: Vec<(&Job, &Slot)> = [&module, &Slot::Tsan]
        .into_iter()
        .flat_map(|slot| wants(slot, Language::Cpp).into_iter().map(move |job| (job, slot)))
        .collect();
    pool::in_order(
        &of_cpp,
        pool::cores(),
        |(job, _)| job.name.clone(),
        |(job, slot)| cpp(job, place, slot).map(|made| ((job.name.clone(), (*slot).clone()), made)),
        |made| {
            all.extend([made?]);
            Ok(())
        },
    )
}

/// The crate of an exercise, or the folder of its C++ file.
pub fn package(one: &Exercise, folder: &Path, name: &str, files: &Files) -> Result<()> {
    std::fs::create_dir_all(folder.join("src"))?;
    for (file, text) in files {
        house::write(&folder.join("src").join(file), text)?;
    }
    if one.language == Language::Rust {
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = \
             false\n\n[lib]\ncrate-type = [\"cdylib\"]\n\n[dependencies]\n{}",
            house::dependencies(&one.needs)?.concat()
        );
        house::write(&folder.join("Cargo.toml"), &manifest)?;
    }
    Ok(())
}

fn rust(house: &Path, jobs: &[&Job], place: &Ready) -> Result<All> {
    let mut command = cargo(house, jobs);
    extension::environment_for(&mut command, &place.env, &format!("exercises-{}", place.build()));
    let told = json(&mut command)?;
    let slot = Slot::Module(place.build());
    let mut made = All::new();
    for job in jobs {
        let one = match told.of(&job.name.replace('-', "_")) {
            Ok(file) => {
                let folder = module_folder(&slot, &job.name)?;
                // Not over the old one: a process that still runs has that file mapped.
                let part = folder.join("exercise.part");
                std::fs::copy(file, &part)?;
                std::fs::rename(part, folder.join("exercise.so"))?;
                Ok(folder)
            }
            Err(errors) => Err(errors),
        };
        made.insert((job.name.clone(), slot.clone()), one);
    }
    Ok(made)
}

fn module_folder(slot: &Slot, name: &str) -> Result<PathBuf> {
    let kind = if let Slot::Module(build) = slot { build } else { "tsan" };
    let folder = paths::local(&format!("exercises/modules/{kind}/{name}"));
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn cargo(house: &Path, jobs: &[&Job]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(house).args(["build", "--quiet", "--keep-going"]);
    command.arg("--message-format=json");
    for job in jobs {
        command.args(["-p", &job.name]);
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

impl Told {
    fn of(&self, target: &str) -> Made {
        let errors = || self.errors.get(target).unwrap_or(&self.rest).clone();
        self.files.get(target).cloned().ok_or_else(errors)
    }
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

fn cpp(job: &Job, place: &Ready, slot: &Slot) -> Result<Made> {
    let out = module_folder(slot, &job.name)?;
    let part = out.join("exercise.part");
    let mut command = Command::new(twin::compiler());
    command
        .current_dir(&job.folder)
        .args(["-std=c++20", "-O1", "-g", "-fPIC", "-shared", "-Wall", "-Wextra"])
        .arg(twin::headers(&place.env)?)
        .arg(format!("-I{}", paths::root().join("cpp/twin").display()))
        .args((*slot == Slot::Tsan).then_some("-fsanitize=thread"))
        .args(["src/exercise.cc", "-o"])
        .arg(&part);
    let output = sh::output_within(&mut command, LIMIT)?;
    if !output.status.success() {
        return Ok(Err(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    std::fs::rename(part, out.join("exercise.so"))?;
    Ok(Ok(out))
}

/// The model programs: for each package, the files that are modelled and `model.rs`.
fn models(jobs: &[&Job]) -> Result<All> {
    let house = paths::local("exercises/models");
    let names: Vec<String> = jobs.iter().map(|job| job.name.clone()).collect();
    house::workspace(&house, &names)?;
    for job in jobs {
        modelled(job, &house.join(&job.name))?;
    }
    let mut command = cargo(&house, jobs);
    command.env("RUSTFLAGS", "--cfg loom");
    command.env("CARGO_TARGET_DIR", paths::local("target/exercises-loom"));
    let told = json(&mut command)?;
    Ok(names.into_iter().map(|name| ((name.clone(), Slot::Model), told.of(&name))).collect())
}

fn modelled(job: &Job, folder: &Path) -> Result<()> {
    let src = folder.join("src");
    std::fs::create_dir_all(&src)?;
    // The program is that of the lessons' models, with one lesson in it.
    std::fs::copy(paths::root().join("crates/models/src/run.rs"), src.join("run.rs"))?;
    std::fs::copy(job.exercise.folder().join("model.rs"), src.join("model.rs"))?;
    let mut main = String::from(
        "#![allow(dead_code, unused_imports)]\nmod run;\nmod model;\nmod sync {\n    pub use \
         interp_model::sync::*;\n}\n",
    );
    for file in &job.exercise.modelled {
        std::fs::copy(job.folder.join("src").join(file), src.join(file))?;
        main += &format!("mod {};\n", file.trim_end_matches(".rs"));
    }
    main += "mod lessons {\n    pub const LESSONS: &[(&str, &[crate::run::Model])] = \
             &[(\"exercise\", crate::model::MODELS)];\n}\nfn main() -> std::process::ExitCode {\n    \
             run::main()\n}\n";
    house::write(&src.join("main.rs"), &main)?;
    let manifest = format!(
        "[package]\nname = \"{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         interp-model = {{ path = {:?} }}\n",
        job.name,
        paths::root().join("crates/interp-model")
    );
    house::write(&folder.join("Cargo.toml"), &manifest)
}
