//! `exercise.toml`: what an exercise says of itself, checked when it is read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use lesson_kit::lesson::Outcome;
use regex::Regex;
use serde::Deserialize;

use super::source::View;
use crate::paths;

/// An exercise, as its folder below `exercises/` says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exercise {
    /// Its folder's name.
    #[serde(skip)]
    pub name: String,
    /// One line.
    pub title: String,
    /// The lesson to read first; the first exercise has none.
    pub lesson: Option<String>,
    pub minutes: u32,
    pub language: Language,
    /// The exercise in the other language whose `check.py` is this one's too.
    pub twin_of: Option<String>,
    /// The dependencies of a Rust solution, by their names in the workspace.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Files of the solution that its model is made of, beside `model.rs`.
    #[serde(default)]
    pub modelled: Vec<String>,
    pub task: String,
    /// Three, each saying more.
    pub hints: Vec<String>,
    /// How the starter fails.
    pub fails: Fails,
    #[serde(rename = "check")]
    pub checks: Vec<Check>,
    #[serde(default, rename = "diagnosis")]
    pub diagnoses: Vec<Diagnosis>,
    #[serde(rename = "wrong")]
    pub wrongs: Vec<Wrong>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Language {
    #[serde(rename = "rust")]
    Rust,
    #[serde(rename = "c++")]
    Cpp,
}

/// The check that the starter does not pass, and what a learner reads there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fails {
    pub check: String,
    #[serde(default = "free_threaded")]
    pub build: String,
    /// A pattern for what the run says.
    pub says: String,
}

fn free_threaded() -> String {
    "3.14t".into()
}

fn both() -> Vec<String> {
    vec!["3.14".into(), "3.14t".into()]
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A function of `check.py`, in a child interpreter under the watchdog.
    #[default]
    Python,
    /// A model of `model.rs`, in loom.
    Model,
    /// A function of `check.py`, with the module built for ThreadSanitizer.
    Tsan,
}

/// A property that the work must have.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    pub run: String,
    #[serde(default)]
    pub kind: Kind,
    /// In words: "one initialiser ran".
    pub property: String,
    #[serde(default = "both")]
    pub builds: Vec<String>,
    /// Seconds after which it counts as a hang.
    #[serde(default = "twenty")]
    pub within: u64,
    /// Environment variables of the child.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

fn twenty() -> u64 {
    20
}

/// What a failure means, for the learner. The first that fits is told.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Diagnosis {
    pub check: String,
    pub outcome: Option<Outcome>,
    /// A pattern that what the run said must match.
    pub text: Option<String>,
    /// A pattern that the learner's code must match.
    pub source: Option<String>,
    pub says: String,
}

/// A plausible wrong answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wrong {
    /// `wrong/<name>.rs` or `.cc`.
    pub name: String,
    /// What somebody believes who writes it.
    pub misconception: String,
    /// The check that rejects it.
    pub check: String,
    #[serde(default = "free_threaded")]
    pub build: String,
    /// A pattern for the message that answers the misconception.
    pub says: String,
    /// An answer that only gives what the checks ask for.
    #[serde(default)]
    pub constant: bool,
}

pub fn folder() -> PathBuf {
    paths::root().join("exercises")
}

/// All of them, in the order of `exercises/order`.
///
/// # Errors
/// For the first that is not complete, with what it lacks.
pub fn all() -> Result<Vec<Exercise>> {
    let order = std::fs::read_to_string(folder().join("order")).context("no exercises/order")?;
    let names = order.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    let found: Vec<Exercise> = names.map(read).collect::<Result<_>>()?;
    for entry in std::fs::read_dir(folder())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.join("exercise.toml").is_file() && !found.iter().any(|one| one.name == name) {
            bail!("exercises/{name} is not in exercises/order");
        }
    }
    Ok(found)
}

fn read(name: &str) -> Result<Exercise> {
    let place = folder().join(name).join("exercise.toml");
    let within = || format!("in exercises/{name}/exercise.toml");
    let text = std::fs::read_to_string(&place).with_context(within)?;
    let mut one: Exercise = toml::from_str(&text).with_context(within)?;
    one.name = name.to_owned();
    complete(&one).and_then(|()| sources(&one)).with_context(within)?;
    Ok(one)
}

/// What every exercise must have, before anything is built.
fn complete(one: &Exercise) -> Result<()> {
    if one.checks.is_empty() {
        bail!("an exercise has checks");
    }
    if one.hints.len() != 3 || one.hints.iter().any(|hint| hint.trim().len() < 20) {
        bail!("an exercise has three hints, none of them empty");
    }
    if one.hints.windows(2).any(|pair| pair[0] == pair[1]) {
        bail!("each hint says more than the one before");
    }
    if one.wrongs.len() < 3 {
        bail!("an exercise has at least three wrong answers");
    }
    if !one.wrongs.iter().any(|wrong| wrong.constant) {
        bail!("one wrong answer has `constant = true`: the checks must see through it");
    }
    let known = |check: &str| check == COMPILES || one.checks.iter().any(|c| c.run == check);
    let named = one.wrongs.iter().map(|wrong| &wrong.check);
    let named = named.chain(one.diagnoses.iter().map(|d| &d.check)).chain([&one.fails.check]);
    for check in named {
        if !known(check) {
            bail!("{check:?} is none of its checks");
        }
    }
    for text in one.diagnoses.iter().flat_map(|d| [&d.text, &d.source]).flatten() {
        Regex::new(text)?;
    }
    Ok(())
}

/// What its files must be.
fn sources(one: &Exercise) -> Result<()> {
    let starter = one.files(View::Starter)?;
    if starter == one.files(View::Solution)? {
        bail!("the starter is the solution: no STARTER block");
    }
    for wrong in &one.wrongs {
        one.files(View::Wrong(&wrong.name))?;
    }
    Ok(())
}

/// The check that every exercise has before all others.
pub const COMPILES: &str = "compiles";

impl Exercise {
    pub fn folder(&self) -> PathBuf {
        folder().join(&self.name)
    }

    /// The functions of its checks.
    pub fn script(&self) -> PathBuf {
        folder().join(self.twin_of.as_ref().unwrap_or(&self.name)).join("check.py")
    }

    pub fn extension(&self) -> &'static str {
        if self.language == Language::Rust { "rs" } else { "cc" }
    }

    /// What a failure means: the first diagnosis that fits.
    pub fn diagnose(&self, check: &str, outcome: Outcome, text: &str, code: &str) -> Option<&str> {
        let fits = |pattern: &Option<String>, text: &str| {
            pattern.as_ref().is_none_or(|p| Regex::new(p).is_ok_and(|p| p.is_match(text)))
        };
        self.diagnoses
            .iter()
            .find(|d| {
                d.check == check
                    && d.outcome.is_none_or(|wanted| wanted == outcome)
                    && fits(&d.text, text)
                    && fits(&d.source, code)
            })
            .map(|d| d.says.trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimal() -> Exercise {
        let hint = "\"Look at what is done while it waits.";
        let wrong = |name| {
            format!(
                "[[wrong]]\nname = \"{name}\"\nmisconception = \"m\"\ncheck = \"ends\"\nsays = \"s\"\n"
            )
        };
        let text = format!(
            "title = \"t\"\nminutes = 10\nlanguage = \"rust\"\ntask = \"t\"\n\
             hints = [{hint} 1\", {hint} 2\", {hint} 3\"]\n[fails]\ncheck = \"ends\"\nsays = \"s\"\n\
             [[check]]\nrun = \"ends\"\nproperty = \"it ends\"\n{}{}constant = true\n{}",
            wrong("a"),
            wrong("b"),
            wrong("c")
        );
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn what_an_exercise_lacks_is_said() {
        complete(&minimal()).unwrap();
        type Spoil = fn(&mut Exercise);
        let spoils: [(Spoil, &str); 7] = [
            (|one| one.checks.clear(), "has checks"),
            (|one| drop(one.hints.pop()), "three hints"),
            (|one| one.hints[1] = " ".repeat(40), "none of them empty"),
            (|one| one.hints[1] = one.hints[0].clone(), "says more"),
            (|one| drop(one.wrongs.pop()), "at least three"),
            (|one| one.wrongs[1].constant = false, "constant = true"),
            (|one| one.wrongs[0].check = "absent".into(), "none of its checks"),
        ];
        for (spoil, says) in spoils {
            let mut one = minimal();
            spoil(&mut one);
            let error = complete(&one).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn the_first_diagnosis_that_fits_is_told() {
        let mut one = minimal();
        let diagnosis = |outcome, text: Option<&str>, source: Option<&str>, says: &str| Diagnosis {
            check: "ends".into(),
            outcome,
            text: text.map(str::to_owned),
            source: source.map(str::to_owned),
            says: says.into(),
        };
        one.diagnoses = vec![
            diagnosis(Some(Outcome::Hang), None, Some("recv"), "hangs in recv"),
            diagnosis(Some(Outcome::Hang), None, None, "hangs"),
            diagnosis(None, Some("got 2"), None, "two"),
        ];
        let told = |outcome, text, code| one.diagnose("ends", outcome, text, code);
        assert_eq!(told(Outcome::Hang, "", "x.recv()"), Some("hangs in recv"));
        assert_eq!(told(Outcome::Hang, "", "x.join()"), Some("hangs"));
        assert_eq!(told(Outcome::WrongAnswer, "got 2, expected 1", ""), Some("two"));
        assert_eq!(told(Outcome::WrongAnswer, "got 3", ""), None);
        assert_eq!(one.diagnose("other", Outcome::Hang, "", "x.recv()"), None);
    }
}
