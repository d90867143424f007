//! The exercises themselves are checked: the solution passes, the starter and each wrong answer fail
//! for the reason that the text says, and a module that is empty passes nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use regex::Regex;

use super::check::{Told, Work};
use super::make::{self, Made, Place};
use super::places;
use super::text::{self, COMPILES, Check, Exercise, Files, Kind, Language, View};
use crate::python::Build;
use crate::{paths, pool, sh};

/// One package of the house: an exercise in one of its states.
struct Entry<'a> {
    exercise: &'a Exercise,
    name: String,
    state: String,
    /// What somebody believes who writes it.
    belief: Option<&'a str>,
    folder: PathBuf,
    runs: Vec<Run<'a>>,
}

/// A check of it, and how it must end.
struct Run<'a> {
    check: Option<&'a Check>,
    build: String,
    expected: Expected<'a>,
}

enum Expected<'a> {
    Passes,
    Fails,
    /// And the run's own text matches.
    Text(&'a str),
    /// And what the learner reads of it matches.
    Says(&'a str),
}

/// Checks all, or those whose name contains one of these.
pub fn run(only: Option<&str>) -> Result<()> {
    let all = text::all()?;
    let house = paths::local("exercises/house");
    let mut entries = Vec::new();
    for one in all.iter().filter(|one| only.is_none_or(|part| one.name.contains(part))) {
        entries.extend(entries_of(one, &house)?);
    }
    if entries.is_empty() {
        bail!("no exercise of that name");
    }
    let rust: Vec<String> = entries
        .iter()
        .filter(|entry| entry.exercise.language == Language::Rust)
        .map(|entry| entry.name.clone())
        .collect();
    make::workspace(&house, &rust)?;
    formatted(&entries)?;
    let places = places(&Build::BOTH)?;
    let mut made = BTreeMap::new();
    for place in &places {
        build(&entries, &house, place, &mut made)?;
    }
    let work: Vec<(&Entry, &Run)> =
        entries.iter().flat_map(|entry| entry.runs.iter().map(move |run| (entry, run))).collect();
    let mut tally = pool::Tally::default();
    pool::in_order(
        &work,
        2 * pool::cores(),
        |(entry, _)| entry.name.clone(),
        |(entry, run)| one(entry, run, &places, &made).map(|(told, ok)| (*entry, told, ok)),
        |line| {
            let (entry, told, ok) = line?;
            tally.count(ok);
            let mark = if ok { "ok  " } else { "FAIL" };
            let came = if told.ok { "passes" } else { "refused" };
            println!("{mark} {:<6} {:<42} {came}: {}", told.build, entry.name, told.property);
            if let Some(belief) = entry.belief {
                println!("            believes: {belief}");
            }
            if !ok {
                println!("     {:?}: {}", told.outcome, told.text.replace('\n', "\n     "));
                println!("     says {:?}", told.says);
            }
            Ok(())
        },
    )?;
    tally.end("exercises", "run(s) did not end as exercise.toml says", false)
}

fn entries_of<'a>(one: &'a Exercise, house: &std::path::Path) -> Result<Vec<Entry<'a>>> {
    let find = |name: &str| one.checks.iter().find(|check| check.run == name);
    let entry = |state: &str, files: Files, runs: Vec<Run<'a>>| -> Result<Entry<'a>> {
        let name = format!("{}--{state}", one.name);
        let folder = house.join(&name);
        make::package(one, &folder, &name, &files)?;
        let belief = one.wrongs.iter().find(|wrong| wrong.name == state);
        let belief = belief.map(|wrong| wrong.misconception.as_str());
        Ok(Entry { exercise: one, name, state: state.into(), belief, folder, runs })
    };
    let run = |check, build: &str, expected| Run { check, build: build.into(), expected };
    let every = one.checks.iter().flat_map(|check| {
        check.builds.iter().map(move |build| run(Some(check), build, Expected::Passes))
    });
    let mut entries = vec![entry("solution", one.files(View::Solution)?, every.collect())?];
    let fails = &one.fails;
    let starter = run(find(&fails.check), &fails.build, Expected::Text(&fails.says));
    entries.push(entry("starter", one.files(View::Starter)?, vec![starter])?);
    for wrong in &one.wrongs {
        let run = run(find(&wrong.check), &wrong.build, Expected::Says(&wrong.says));
        entries.push(entry(&wrong.name, one.files(View::Wrong(&wrong.name))?, vec![run])?);
    }
    // Deleting everything must not pass anything.
    let python = one.checks.iter().filter(|check| check.kind == Kind::Python);
    let empty = python
        .filter(|check| check.builds.iter().any(|build| build == "3.14t"))
        .map(|check| run(Some(check), "3.14t", Expected::Fails));
    let empty: Vec<Run> = empty.collect();
    if !empty.is_empty() {
        entries.push(entry("empty", nothing(one.language), empty)?);
    }
    Ok(entries)
}

/// A module with nothing in it.
fn nothing(language: Language) -> Files {
    let rust = "#[pyo3::pymodule(gil_used = false)]\nmod exercise {}\n";
    let cpp = "#include <Python.h>\nstatic PyModuleDef_Slot slots[] = {{Py_mod_gil, \
               Py_MOD_GIL_NOT_USED}, {0, nullptr}};\nstatic PyModuleDef def = \
               {PyModuleDef_HEAD_INIT, \"exercise\", \"\", 0, nullptr, slots, nullptr, nullptr, \
               nullptr};\nPyMODINIT_FUNC PyInit_exercise() { return PyModuleDef_Init(&def); }\n";
    match language {
        Language::Rust => vec![("lib.rs".into(), rust.into())],
        Language::Cpp => vec![("exercise.cc".into(), cpp.into())],
    }
}

/// What people read as the solution is formatted as the rest is.
fn formatted(entries: &[Entry]) -> Result<()> {
    let solutions = entries.iter().filter(|entry| entry.state == "solution");
    for entry in solutions.filter(|entry| entry.exercise.language == Language::Rust) {
        for (file, _) in entry.exercise.files(View::Solution)? {
            let mut command = Command::new("rustfmt");
            command.args(["--check", "--edition", "2024", "--config-path"]);
            command.arg(paths::root().join("rustfmt.toml"));
            command.arg(entry.folder.join("src").join(&file));
            sh::run(&mut command).with_context(|| format!("{}: {file}", entry.exercise.name))?;
        }
    }
    Ok(())
}

/// By package and what it is for: a build's name, "Tsan" or "Model".
type All = BTreeMap<(String, String), Made>;

fn build(entries: &[Entry], house: &std::path::Path, place: &Place, made: &mut All) -> Result<()> {
    let step = sh::Step::new(format!("building the exercises for {}", place.build()));
    let here = |entry: &&Entry| entry.runs.iter().any(|run| run.build == place.build());
    let entries: Vec<&Entry> = entries.iter().filter(here).collect();
    let of = |language| move |e: &&&Entry| e.exercise.language == language;
    let names: Vec<String> =
        entries.iter().filter(of(Language::Rust)).map(|entry| entry.name.clone()).collect();
    if !names.is_empty() {
        for (name, one) in make::rust(house, &names, place)? {
            made.insert((name, place.build()), one);
        }
    }
    let cpp: Vec<&&Entry> = entries.iter().filter(of(Language::Cpp)).collect();
    let asks = |entry: &Entry, kind| {
        entry.runs.iter().any(|run| run.check.is_some_and(|check| check.kind == kind))
    };
    pool::in_order(
        &cpp,
        pool::cores(),
        |entry| entry.name.clone(),
        |entry| -> Result<_> {
            let plain = make::cpp(&entry.folder, &entry.name, place, false)?;
            let tsan = asks(entry, Kind::Tsan) && place.build() == "3.14t";
            let tsan = tsan.then(|| make::cpp(&entry.folder, &entry.name, place, true));
            Ok((entry.name.clone(), plain, tsan.transpose()?))
        },
        |built| {
            let (name, plain, tsan) = built?;
            made.insert((name.clone(), place.build()), plain);
            made.extend(tsan.map(|tsan| ((name, Kind::Tsan.word()), tsan)));
            Ok(())
        },
    )?;
    let modelled: Vec<(&Exercise, String, PathBuf)> = entries
        .iter()
        .filter(|entry| asks(entry, Kind::Model))
        .map(|entry| (entry.exercise, entry.name.clone(), entry.folder.join("src")))
        .collect();
    if place.build() == "3.14t" && !modelled.is_empty() {
        for (name, one) in make::models(&modelled)? {
            made.insert((name, Kind::Model.word()), one);
        }
    }
    step.done();
    Ok(())
}

/// Runs one, and says whether it ended as it must.
fn one(entry: &Entry, run: &Run, places: &[Place], made: &All) -> Result<(Told, bool)> {
    let place = places.iter().find(|place| place.build() == run.build).context("a build")?;
    // "compiles" is no check that runs: any stands for it.
    let check = run.check.or(entry.exercise.checks.first()).context("an exercise has checks")?;
    let key = match check.kind {
        Kind::Python => run.build.clone(),
        other => other.word(),
    };
    let made = made.get(&(entry.name.clone(), key)).context("everything was built")?;
    let work = Work { exercise: entry.exercise, sources: entry.folder.join("src") };
    let told = work.run(check, place, made)?;
    let matches = |pattern: &str, text: &str| -> Result<bool> {
        Ok(Regex::new(pattern)?.is_match(&text.replace('\n', " ")))
    };
    // What does not compile is refused for that reason or not at all.
    let right = (told.check == COMPILES) == run.check.is_none();
    let ok = match run.expected {
        Expected::Passes => told.ok,
        Expected::Fails => !told.ok && right,
        Expected::Text(pattern) => !told.ok && right && matches(pattern, &told.text)?,
        Expected::Says(pattern) => {
            !told.ok && right && matches(pattern, told.says.as_deref().unwrap_or_default())?
        }
    };
    Ok((told, ok))
}
