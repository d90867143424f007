//! `cargo xtask truth`: the doctor's verdicts held against real imports on 3.14t, of real
//! distributions pinned by hash; and what its peers say of the same.

mod peers;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bench::machine;
use crate::bench::results::Environment;
use crate::python::{self, Build, Env, Machine};
use crate::{paths, sh};

const LIMIT: Duration = Duration::from_secs(900);

#[derive(Args, Default)]
pub struct Options {
    /// Also keep the outcomes as the book's tables (results/truth.json)
    #[arg(long)]
    save: bool,
    /// Ask the peers too (they are installed for it)
    #[arg(long)]
    peers: bool,
}

#[derive(Serialize, Deserialize)]
pub struct Found {
    pub environment: Environment,
    pub counts: Counts,
    /// Name, version and status of each distribution.
    pub distributions: Vec<(String, String, String)>,
    pub peers: Vec<peers::Peer>,
}

/// Of extension files, unless it says otherwise.
#[derive(Default, Serialize, Deserialize)]
pub struct Counts {
    pub distributions: usize,
    pub with_extensions: usize,
    pub turn_on: usize,
    pub extensions: usize,
    pub agree_free: usize,
    pub agree_gil: usize,
    pub disagree: usize,
    pub cannot_tell: usize,
    pub not_imported: usize,
    /// Wheels.
    pub refused: usize,
}

pub fn run(options: &Options) -> Result<()> {
    let interpreter = python::resolve(Build::parse("3.14t")?, &Machine::this())?;
    let env = python::environment(&interpreter, "doctor")?;
    let doctor = build()?;
    let step = sh::Step::new("reading the environment (--static)");
    let begin = Instant::now();
    let fixed = ask(&doctor, &env.dir, &["--static"])?;
    let seconds = begin.elapsed().as_secs_f64();
    step.done();
    let step = sh::Step::new("importing each distribution in a child process");
    let report = ask(&doctor, &env.dir, &[])?;
    step.done();
    let (mut counts, mut complaints) = compare(&report)?;
    complaints.extend(facts(&report)?);
    counts.refused = refused(&doctor, &env)?;
    locked(&doctor)?;
    let of = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
    let distributions = list(&report, "distributions")?
        .iter()
        .map(|one| (of(one, "name"), of(one, "version"), of(one, "status")))
        .collect();
    println!("{}", serde_json::to_string_pretty(&counts)?);
    println!("read in {seconds:.2} s: {} distributions", list(&fixed, "distributions")?.len());
    if !complaints.is_empty() {
        bail!("the doctor is wrong:\n{}", complaints.join("\n"));
    }
    if counts.cannot_tell * 20 > counts.extensions {
        bail!("it cannot tell {} of {}", counts.cannot_tell, counts.extensions);
    }
    if counts.with_extensions < 40 || counts.agree_gil < 5 {
        bail!("the set has become too small to say anything: requirements/doctor.txt");
    }
    let peers = if options.peers { peers::ask(&report, &env)? } else { Vec::new() };
    if options.save {
        let found = Found { environment: machine::here()?, counts, distributions, peers };
        let file = paths::root().join("results/truth.json");
        std::fs::write(&file, serde_json::to_string_pretty(&found)? + "\n")?;
        println!("{}", paths::shown(&file));
    }
    Ok(())
}

/// The doctor, built.
pub fn build() -> Result<PathBuf> {
    let step = sh::Step::new("building the doctor");
    sh::run_within(
        Command::new(env!("CARGO")).current_dir(paths::root()).args([
            "build",
            "--release",
            "--quiet",
            "-p",
            "doctor",
        ]),
        LIMIT,
    )?;
    step.done();
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or(paths::root().join("target"), PathBuf::from);
    Ok(target.join("release/ungil-doctor"))
}

/// The doctor's report. It ends with 0, 1 or 3 and always says something.
pub fn ask(doctor: &Path, of: &Path, words: &[&str]) -> Result<Value> {
    let mut command = Command::new(doctor);
    command.arg(of).arg("--json").args(words);
    let output = sh::output_within(&mut command, LIMIT)?;
    serde_json::from_slice(&output.stdout).with_context(|| {
        format!("{}: {}", sh::line(&command), String::from_utf8_lossy(&output.stderr))
    })
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    value[key].as_array().with_context(|| format!("the report has no {key}"))
}

/// What was read beside what was imported, extension for extension.
fn compare(report: &Value) -> Result<(Counts, Vec<String>)> {
    let mut counts = Counts::default();
    let mut wrong = Vec::new();
    for one in list(report, "distributions")? {
        counts.distributions += 1;
        counts.turn_on += usize::from(one["status"] == "turns-on");
        let mut any = false;
        for extension in list(one, "extensions")? {
            if extension["loads"]["3.14t"] != "yes" || extension["declares"]["says"] == "no-module"
            {
                continue;
            }
            any = true;
            counts.extensions += 1;
            let imported = &extension["imported"];
            let came_on = match imported["import"].as_str() {
                Some("stays-off") => Some(false),
                Some("turns-on") => Some(true),
                // Its file alone was loaded.
                _ => imported["turns_on"].as_bool(),
            };
            let place = match (extension["declares"]["says"].as_str(), came_on) {
                (Some("cannot-tell"), _) => &mut counts.cannot_tell,
                (_, None) => &mut counts.not_imported,
                (Some("free"), Some(false)) => &mut counts.agree_free,
                (Some("gil"), Some(true)) => &mut counts.agree_gil,
                (says, _) => {
                    let path = &extension["path"];
                    wrong.push(format!("{path}: the file says {says:?}, its import {imported}"));
                    &mut counts.disagree
                }
            };
            *place += 1;
        }
        counts.with_extensions += usize::from(any);
    }
    Ok((counts, wrong))
}

/// The data file names modules that exist: a distribution with extensions has the one that is named.
fn facts(report: &Value) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(paths::root().join("crates/doctor/data/known.toml"))?;
    let known: toml::Table = toml::from_str(&text)?;
    let mut wrong = Vec::new();
    for fact in known["native"].as_array().context("known.toml has native parts")? {
        let (name, module) = (fact["name"].as_str(), fact["module"].as_str());
        for one in list(report, "distributions")?.iter().filter(|one| one["name"].as_str() == name)
        {
            let extensions = list(one, "extensions")?;
            if !extensions.is_empty() && !extensions.iter().any(|e| e["module"].as_str() == module)
            {
                wrong.push(format!("known.toml: {name:?} has no {module:?}"));
            }
        }
    }
    Ok(wrong)
}

/// Wheels that are not for 3.14t: the doctor says so, and so does an installer.
fn refused(doctor: &Path, env: &Env) -> Result<usize> {
    let folder = paths::local("doctor/refused");
    let list = paths::root().join("requirements/doctor-refused.txt");
    let text = std::fs::read_to_string(&list).context("requirements/doctor-refused.txt")?;
    std::fs::create_dir_all(&folder)?;
    let mut refused = 0;
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (pin, hash) = line.split_once(" --hash=sha256:").context("a pin has its hash")?;
        let place = folder.join(pin.replace("==", "-"));
        let wheel = match std::fs::read_dir(&place).ok().and_then(|mut e| e.next()) {
            Some(entry) => entry?.path(),
            None => fetch(pin, hash, &place)?,
        };
        let report = ask(doctor, &wheel, &[])?;
        let status = report["distributions"][0]["status"].as_str().unwrap_or("nothing");
        if status != "cannot-load" {
            bail!("{pin}: the doctor says {status}, of a wheel that is not for 3.14t");
        }
        let target = tempfile::tempdir()?;
        let mut install = python::uv()?;
        install.args(["pip", "install", "--no-deps", "--no-index", "--python"]);
        install.arg(env.python()).arg("--target").arg(target.path()).arg(&wheel);
        if sh::output_within(&mut install, LIMIT)?.status.success() {
            bail!("{pin}: an installer takes it for 3.14t, and the doctor says that it is not");
        }
        refused += 1;
    }
    Ok(refused)
}

/// A lock file: a native wheel, a pure one beside an `abi3` that 3.14t does not take, none at all.
fn locked(doctor: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let list = folder.path().join("requirements.txt");
    let pins = [
        ("hiredis==3.5.0", "turns-on"),
        ("protobuf==7.36.2", "fallback"),
        ("orjson==3.13.0", "cannot-load"),
    ];
    std::fs::write(&list, pins.map(|(pin, _)| format!("{pin}\n")).concat())?;
    let report = ask(doctor, &list, &[])?;
    for (pin, expected) in pins {
        let name = pin.split("==").next();
        let of = report["distributions"].as_array().into_iter().flatten();
        let status = of.filter(|one| one["name"].as_str() == name).map(|one| &one["status"]).next();
        if status.and_then(Value::as_str) != Some(expected) {
            bail!("{pin} in a requirements file: {status:?}, and it is {expected}: {report}");
        }
    }
    Ok(())
}

fn fetch(pin: &str, hash: &str, place: &Path) -> Result<PathBuf> {
    let part = tempfile::tempdir_in(paths::local("doctor"))?;
    let mut options = vec!["--only-binary=:all:", "--python-version", "3.14"];
    options.extend(["--implementation", "cp", "--abi", "cp314", "--abi", "abi3"]);
    for platform in ["manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64"] {
        options.extend(["--platform", platform]);
    }
    let file = python::download(pin, Some(hash), &options, part.path())?;
    let part = part.keep();
    std::fs::rename(&part, place)?;
    Ok(place.join(file.file_name().context("a file has a name")?))
}

pub fn reference() -> Result<Found> {
    let file = paths::root().join("results/truth.json");
    let text = std::fs::read_to_string(&file)
        .context("results/truth.json is missing; run `cargo xtask truth --peers --save`")?;
    Ok(serde_json::from_str(&text)?)
}
