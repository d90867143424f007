//! The exercises themselves are checked: the solution passes, the starter and each wrong answer fail
//! for the reason that the text says, and a module that is empty passes nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use regex::Regex;

use super::check::{Told, Work};
use super::make::{self, All, Job, Slot};
use super::places;
use super::source::{Files, View};
use super::text::{self, COMPILES, Check, Exercise, Kind, Language};
use crate::extension::Ready;
use crate::{house, paths, pool, sh};

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
    /// None: the compiler refuses it, so no check runs.
    check: Option<&'a Check>,
    build: String,
    expected: Expected<'a>,
}

#[derive(Clone, Copy)]
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
    let folder = paths::local("exercises/house");
    let mut entries = Vec::new();
    for one in all.iter().filter(|one| only.is_none_or(|part| one.name.contains(part))) {
        entries.extend(entries_of(one, &folder)?);
    }
    if entries.is_empty() {
        bail!("no exercise of that name");
    }
    let rust: Vec<String> = entries
        .iter()
        .filter(|entry| entry.exercise.language == Language::Rust)
        .map(|entry| entry.name.clone())
        .collect();
    house::workspace(&folder, &rust)?;
    formatted(&entries)?;
    let places = places()?;
    let mut made = All::new();
    for place in &places {
        let step = sh::Step::new(format!("building the exercises for {}", place.build()));
        let jobs: Vec<Job> = entries.iter().filter_map(|entry| entry.job(&place.build())).collect();
        make::build(&folder, &jobs, place, &mut made)?;
        step.done();
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

fn entries_of<'a>(one: &'a Exercise, house: &Path) -> Result<Vec<Entry<'a>>> {
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

impl Entry<'_> {
    /// What its runs on a build need, if there are any.
    fn job(&self, build: &str) -> Option<Job<'_>> {
        let here = self.runs.iter().filter(|run| run.build == build);
        let slots: Vec<Slot> = here.map(|run| Slot::of(self.kind(run), build)).collect();
        let (name, folder) = (self.name.clone(), self.folder.clone());
        (!slots.is_empty()).then_some(Job { exercise: self.exercise, name, folder, slots })
    }

    fn kind(&self, run: &Run) -> Kind {
        run.check.map_or(Kind::Python, |check| check.kind)
    }
}

/// Runs one, and says whether it ended as it must.
fn one(entry: &Entry, run: &Run, places: &[Ready], made: &All) -> Result<(Told, bool)> {
    let place = places.iter().find(|place| place.build() == run.build).context("a build")?;
    // What the compiler refuses never comes to a check; any stands for it.
    let check = run.check.or(entry.exercise.checks.first()).context("an exercise has checks")?;
    let sources = entry.folder.join("src");
    let work = Work { exercise: entry.exercise, name: &entry.name, sources };
    let told = work.run(check, place, made)?;
    let ok = ends_so(&told, run.check.is_none(), run.expected)?;
    Ok((told, ok))
}

/// Whether a run ended as it must; `unbuilt` if it was not to be compiled.
fn ends_so(told: &Told, unbuilt: bool, expected: Expected) -> Result<bool> {
    if told.ok {
        return Ok(matches!(expected, Expected::Passes));
    }
    // What does not compile is refused for that reason or not at all.
    if (told.check == COMPILES) != unbuilt {
        return Ok(false);
    }
    let matches = |pattern: &str, text: &str| -> Result<bool> {
        Ok(Regex::new(pattern)?.is_match(&text.replace('\n', " ")))
    };
    match expected {
        Expected::Passes => Ok(false),
        Expected::Fails => Ok(true),
        Expected::Text(pattern) => matches(pattern, &told.text),
        Expected::Says(pattern) => matches(pattern, told.says.as_deref().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use lesson_kit::lesson::Outcome;

    use super::*;

    #[test]
    fn a_run_is_right_for_the_stated_reason_only() {
        let told = |check: &str, ok, text: &str, says: Option<&str>| Told {
            exercise: "e".into(),
            check: check.into(),
            property: "p".into(),
            build: "3.14t".into(),
            ok,
            outcome: if ok { Outcome::Ok } else { Outcome::WrongAnswer },
            text: text.into(),
            says: says.map(str::to_owned),
        };
        let good = told("ends", true, "", None);
        let bad = told("ends", false, "got 2", Some("because of\nthat"));
        let unbuilt = told(COMPILES, false, "error[E0277]", Some("not Sync"));
        let mute = told("ends", false, "got 2", None);
        for (told, to_be_unbuilt, expected, right) in [
            (&good, false, Expected::Passes, true),
            (&good, false, Expected::Fails, false),
            (&good, false, Expected::Text(""), false),
            (&good, false, Expected::Says(""), false),
            (&bad, false, Expected::Passes, false),
            (&bad, false, Expected::Fails, true),
            (&bad, false, Expected::Text("got 2"), true),
            (&bad, false, Expected::Text("got 3"), false),
            (&bad, false, Expected::Says("of that"), true),
            (&bad, false, Expected::Says("got 2"), false),
            (&mute, false, Expected::Says("."), false),
            (&unbuilt, false, Expected::Fails, false),
            (&unbuilt, false, Expected::Text("E0277"), false),
            (&unbuilt, true, Expected::Says("Sync"), true),
            (&bad, true, Expected::Says("of that"), false),
        ] {
            assert_eq!(ends_so(told, to_be_unbuilt, expected).unwrap(), right, "{told:?}");
        }
    }
}
