//! `cargo xtask wheels`: the template built for each kind of build, and what really takes which file.

mod build;
mod cost;
mod load;

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};

use self::build::Wheel;
use crate::bench::machine;
use crate::bench::results::Environment;
use crate::python::{self, Build, Env, Machine};
use crate::{paths, sh, truth};

/// Every build that can be asked.
pub const BUILDS: [&str; 4] = ["3.14", "3.14t", "3.15", "3.15t"];

#[derive(Args)]
pub struct Options {
    /// Also keep the outcomes as the book's tables (results/wheels.json)
    #[arg(long)]
    save: bool,
    /// One JSON object and nothing else on standard output
    #[arg(long)]
    json: bool,
    /// Do not measure what the stable ABI costs
    #[arg(long)]
    no_cost: bool,
}

impl Options {
    /// As the tests run it.
    pub fn all() -> Self {
        Self { save: false, json: false, no_cost: true }
    }
}

/// Everything that was found.
#[derive(Serialize, Deserialize)]
pub struct Found {
    pub environment: Environment,
    /// File, then build, then what its import comes to.
    pub files: BTreeMap<String, BTreeMap<String, String>>,
    /// What is offered, then build, then the wheel that the installer takes.
    pub installers: BTreeMap<String, BTreeMap<String, String>>,
    /// What the stable ABI costs; empty if it was not measured.
    pub costs: Vec<cost::Cost>,
}

/// Imports that the book states. What another outcome would mean is not for a program to guess.
const EXPECTED: [(&str, [&str; 4]); 7] = [
    (
        "_native.cpython-314-x86_64-linux-gnu.so",
        ["imported", "not tried", "not tried", "not tried"],
    ),
    (
        "_native.cpython-314t-x86_64-linux-gnu.so",
        ["not tried", "imported, GIL off", "not tried", "not tried"],
    ),
    (
        "_native.cpython-314t-x86_64-linux-gnu.so, which says nothing",
        ["not tried", "imported, GIL ON", "not tried", "not tried"],
    ),
    (
        "_native.abi3.so",
        [
            "imported",
            "refused: init function of _native returned uninitialized object",
            "imported",
            "not tried",
        ],
    ),
    (
        "_native.so, compiled as abi3",
        [
            "imported",
            "refused: init function of _native returned uninitialized object",
            "imported",
            "refused: invalid PyModuleDef, extension possibly compiled for non-free-threaded",
        ],
    ),
    ("single.abi3.so, single-phase", ["imported", "crashes (signal 11)", "imported", "not tried"]),
    (
        "_native.abi3t-x86_64-linux-gnu.so",
        ["not tried", "not tried", "imported", "imported, GIL off"],
    ),
];

const TAKEN: [(&str, [&str; 4]); 3] = [
    ("all four", ["cp314-cp314", "cp314-cp314t", "cp315-abi3.abi3t", "cp315-abi3.abi3t"]),
    ("abi3 only", ["cp311-abi3", "none", "cp311-abi3", "none"]),
    (
        "abi3 and a pure wheel of an older version",
        ["cp311-abi3", "py3-none (older)", "cp311-abi3", "py3-none (older)"],
    ),
];

pub fn run(options: &Options) -> Result<()> {
    let machine = Machine::this();
    let mut envs = Vec::new();
    for name in BUILDS {
        let interpreter = python::resolve(Build::parse(name)?, &machine)?;
        envs.push((name, python::environment(&interpreter, "wheels")?));
    }
    let wheels = build::all(&envs)?;
    for (wheel, name) in [("cp314t", "3.14t"), ("abi3t", "3.15t"), ("abi3", "3.14")] {
        test(&wheels, wheel, name, &envs)?;
    }
    doctor(&wheels)?;
    let found = Found {
        environment: machine::here()?,
        files: load::files(&wheels, &envs)?,
        installers: load::installers(&wheels, &envs)?,
        costs: if options.no_cost { Vec::new() } else { cost::measure(&wheels, &envs)? },
    };
    if options.json {
        println!("{}", serde_json::to_string(&found)?);
    } else {
        print(&found);
    }
    if options.save {
        let file = paths::root().join("results/wheels.json");
        std::fs::write(&file, serde_json::to_string_pretty(&found)? + "\n")?;
        println!("{}", paths::shown(&file));
    }
    check(&found.files, &EXPECTED)?;
    check(&found.installers, &TAKEN)
}

/// The tests of the template, of what was installed from a wheel.
fn test(wheels: &[Wheel], name: &str, build: &str, envs: &[(&str, Env)]) -> Result<()> {
    let wheel = build::named(wheels, name)?;
    let (_, env) = envs.iter().find(|(own, _)| *own == build).context("a build of the list")?;
    let step = sh::Step::new(format!("testing the wheel {} on {build}", wheel.name));
    env.install(&wheel.file)?;
    let mut command = env.command();
    command
        .args(["-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .args(["--parallel-threads=4"])
        .arg(build::source().join("tests"))
        .current_dir(paths::local("wheels"));
    sh::run_within(&mut command, std::time::Duration::from_secs(300))?;
    step.done();
    Ok(())
}

/// What the doctor reads of each wheel, before anybody installs it.
fn doctor(wheels: &[Wheel]) -> Result<()> {
    let doctor = truth::build()?;
    for (name, build, expected) in [
        ("cp314t", "3.14t", "free"),
        ("undeclared", "3.14t", "turns-on"),
        ("abi3", "3.14t", "cannot-load"),
        ("cp314", "3.14t", "cannot-load"),
        ("abi3t", "3.14t", "cannot-load"),
        ("abi3t", "3.15t", "free"),
        ("cp315t", "3.15t", "free"),
    ] {
        let wheel = build::named(wheels, name)?;
        let report = truth::ask(&doctor, &wheel.file, &["--build", build])?;
        let status = report["distributions"][0]["status"].as_str().unwrap_or("nothing");
        if status != expected {
            bail!("the doctor says {status} of the wheel {name} on {build}, and it is {expected}");
        }
    }
    Ok(())
}

fn check(
    found: &BTreeMap<String, BTreeMap<String, String>>,
    expected: &[(&str, [&str; 4])],
) -> Result<()> {
    let mut wrong = Vec::new();
    for (row, outcomes) in expected {
        for (build, outcome) in BUILDS.iter().zip(outcomes) {
            let got = found.get(*row).and_then(|of| of.get(*build)).map_or("nothing", |s| s);
            if !got.starts_with(outcome) {
                wrong.push(format!("{row} on {build}: {got}, and the book says {outcome}"));
            }
        }
    }
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    Ok(())
}

fn print(found: &Found) {
    for (title, rows) in [("file", &found.files), ("offered", &found.installers)] {
        println!("{title}");
        for (row, outcomes) in rows {
            println!("  {row}");
            for (build, outcome) in outcomes {
                println!("    {build:6} {outcome}");
            }
        }
    }
    for cost in &found.costs {
        println!("{}", cost.line());
    }
}

pub fn reference() -> Result<Found> {
    let file = paths::root().join("results/wheels.json");
    let text = std::fs::read_to_string(&file)
        .context("results/wheels.json is missing; run `cargo xtask wheels --save`")?;
    Ok(serde_json::from_str(&text)?)
}
