//! One check of somebody's work, and what a learner reads of it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use lesson_kit::lesson::Outcome;
use serde::Serialize;

use super::make::{All, Made, Slot};
use super::source;
use super::text::{COMPILES, Check, Exercise, Kind};
use crate::extension::Ready;
use crate::faults::{self, Observed};
use crate::{sh, twin};

/// How a check ended. Also a line of `--json`.
#[derive(Debug, Serialize)]
pub struct Told {
    pub exercise: String,
    pub check: String,
    pub property: String,
    pub build: String,
    pub ok: bool,
    pub outcome: Outcome,
    /// What was seen: the answer, the error, the stacks, the story.
    pub text: String,
    /// What that means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
}

/// Somebody's work, built.
pub struct Work<'a> {
    pub exercise: &'a Exercise,
    /// Its package.
    pub name: &'a str,
    /// The folder of its sources.
    pub sources: PathBuf,
}

impl Work<'_> {
    /// Runs one check with what was made for it.
    pub fn run(&self, check: &Check, place: &Ready, all: &All) -> Result<Told> {
        let slot = Slot::of(check.kind, &place.build());
        let made: &Made = all.get(&(self.name.to_owned(), slot)).context("it was built")?;
        let observed = match made {
            Err(errors) => return Ok(self.broken(&place.build(), errors)),
            Ok(made) => match check.kind {
                Kind::Python => self.python(check, place, made)?,
                Kind::Tsan => self.tsan(check, place, made)?,
                Kind::Model => model(check, &place.build(), made)?,
            },
        };
        Ok(self.told(&check.run, &check.property, &place.build(), observed))
    }

    /// It does not compile: the compiler's first words, and what they mean.
    fn broken(&self, build: &str, errors: &str) -> Told {
        let text = errors.trim().to_owned();
        let observed = Observed { outcome: Outcome::CouldNotRun, text };
        self.told(COMPILES, "it compiles", build, observed)
    }

    fn told(&self, check: &str, property: &str, build: &str, observed: Observed) -> Told {
        let Observed { outcome, text } = observed;
        let one = self.exercise;
        let ok = outcome == Outcome::Ok;
        let code = source::code_of(&self.sources, one.extension());
        let says = if ok { None } else { one.diagnose(check, outcome, &text, &code) };
        Told {
            exercise: one.name.clone(),
            check: check.into(),
            property: property.into(),
            build: build.into(),
            ok,
            outcome,
            says: says.map(str::to_owned),
            text,
        }
    }

    fn python(&self, check: &Check, place: &Ready, made: &Path) -> Result<Observed> {
        let mut command = place.env.command();
        self.child(&mut command, check, made);
        faults::observe(&mut command, Duration::from_secs(check.within))
    }

    fn child(&self, command: &mut Command, check: &Check, made: &Path) {
        command.arg(faults::runner()).arg(self.exercise.script()).arg(&check.run);
        command.env("PYTHONPATH", made).envs(&check.env);
    }

    fn tsan(&self, check: &Check, place: &Ready, made: &Path) -> Result<Observed> {
        let mut command = twin::under_tsan(&place.env)?;
        self.child(&mut command, check, made);
        let limit = Duration::from_secs(check.within);
        let output = match sh::output_within(&mut command, limit) {
            Ok(output) => output,
            Err(error) => {
                return Ok(Observed { outcome: Outcome::Hang, text: error.to_string() });
            }
        };
        let report = String::from_utf8_lossy(&output.stderr);
        if report.contains("WARNING: ThreadSanitizer: data race") {
            let text = format!("a data race, between\n{}", self.places(&report));
            return Ok(Observed { outcome: Outcome::WrongAnswer, text });
        }
        let said = String::from_utf8_lossy(&output.stdout);
        Ok(faults::classify(output.status, &said, &report))
    }

    /// The lines of the learner's file that a report names, with their code.
    fn places(&self, report: &str) -> String {
        let line = |place: &String| -> Option<String> {
            let (file, number) = place.split_once(':')?;
            let text = std::fs::read_to_string(self.sources.join(file)).ok()?;
            let code = text.lines().nth(number.parse::<usize>().ok()?.checked_sub(1)?)?;
            Some(format!("{place}: {}\n", code.trim()))
        };
        twin::places(report, "src/").iter().filter_map(line).take(4).collect()
    }
}

/// A model ends well if every order was tried and none fails; otherwise it tells one that does.
fn model(check: &Check, build: &str, program: &Path) -> Result<Observed> {
    let mut command = Command::new(program);
    command.args(["run", "exercise", &check.run, build]);
    let output = sh::output_within(&mut command, Duration::from_secs(120))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let outcome = match said.split(':').next() {
        Some("passes") => Outcome::Ok,
        Some("deadlock") => Outcome::Hang,
        Some("race" | "wrong-answer") => Outcome::WrongAnswer,
        _ => Outcome::CouldNotRun,
    };
    let text = if outcome == Outcome::CouldNotRun {
        format!("{said}{}", String::from_utf8_lossy(&output.stderr))
    } else {
        said
    };
    Ok(Observed { outcome, text })
}
