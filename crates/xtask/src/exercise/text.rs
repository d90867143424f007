//! `exercise.toml` and the sources beside it: what a learner gets is derived from the solution.
//!
//! ```text
//! // SOLUTION fast-path
//! let object = self.object.load(Ordering::Acquire);
//! // STARTER
//! // let object = self.object.load(Ordering::Relaxed);
//! // END
//! ```
//!
//! A wrong answer is a file of such blocks without their STARTER part; each stands in the place of the
//! solution's block of that name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use lesson_kit::lesson::Outcome;
use regex::Regex;
use serde::Deserialize;

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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
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
    /// A pattern that the learner's code must not match.
    pub lacks: Option<String>,
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

/// All of them, in the order of `exercises/order`, each with what is wrong with it as an error.
pub fn all() -> Result<Vec<Exercise>> {
    let order = std::fs::read_to_string(folder().join("order")).context("no exercises/order")?;
    let names = order.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    let mut found: Vec<Exercise> = names.map(read).collect::<Result<_>>()?;
    for entry in std::fs::read_dir(folder())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.join("exercise.toml").is_file() && !found.iter().any(|one| one.name == name) {
            bail!("exercises/{name} is not in exercises/order");
        }
    }
    found.sort_by_key(|one| one.name == "capstone");
    Ok(found)
}

fn read(name: &str) -> Result<Exercise> {
    let place = folder().join(name).join("exercise.toml");
    let within = || format!("in exercises/{name}/exercise.toml");
    let text = std::fs::read_to_string(&place).with_context(within)?;
    let mut one: Exercise = toml::from_str(&text).with_context(within)?;
    one.name = name.to_owned();
    complete(&one).with_context(within)?;
    Ok(one)
}

/// What every exercise must have, before anything is built.
fn complete(one: &Exercise) -> Result<()> {
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
    for text in one.diagnoses.iter().flat_map(|d| [&d.text, &d.source, &d.lacks]).flatten() {
        Regex::new(text)?;
    }
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

/// Which text of an exercise.
#[derive(Clone, Copy, Debug)]
pub enum View<'a> {
    Starter,
    Solution,
    Wrong(&'a str),
}

/// A file's name and its text.
pub type Files = Vec<(String, String)>;

impl Exercise {
    pub fn folder(&self) -> PathBuf {
        folder().join(&self.name)
    }

    pub fn extension(&self) -> &'static str {
        if self.language == Language::Rust { "rs" } else { "cc" }
    }

    /// The sources as a learner, the solution or a wrong answer has them.
    pub fn files(&self, view: View) -> Result<Files> {
        let mut files = Vec::new();
        let mut instead = match view {
            View::Wrong(name) => {
                let file = format!("wrong/{name}.{}", self.extension());
                let text = std::fs::read_to_string(self.folder().join(&file)).context(file)?;
                replacements(&text)?
            }
            _ => BTreeMap::new(),
        };
        for (name, text) in self.sources()? {
            let mut out = String::new();
            for part in parts(&text).with_context(|| format!("solution/{name}"))? {
                out += &match (&part, view) {
                    (Part::Plain(text), _) => text.clone(),
                    (Part::Block { starter, .. }, View::Starter) => starter.clone(),
                    (Part::Block { solution, .. }, View::Solution) => solution.clone(),
                    (Part::Block { name, solution, .. }, View::Wrong(_)) => {
                        instead.remove(name).unwrap_or_else(|| solution.clone())
                    }
                };
            }
            files.push((name, out));
        }
        if let Some(unknown) = instead.keys().next() {
            bail!("no block {unknown:?} in the solution of {}", self.name);
        }
        Ok(files)
    }

    /// The solution's files as they are written, with their markers.
    pub fn sources(&self) -> Result<Files> {
        let place = self.folder().join("solution");
        let mut names: Vec<String> = std::fs::read_dir(&place)
            .with_context(|| format!("no folder solution in {}", self.name))?
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            .collect();
        names.sort();
        let read = |name: String| -> Result<(String, String)> {
            let text = std::fs::read_to_string(place.join(&name))?;
            Ok((name, text))
        };
        names.into_iter().map(read).collect()
    }

    /// What a failure means: the first diagnosis that fits.
    pub fn diagnose(&self, check: &str, outcome: Outcome, text: &str, code: &str) -> Option<&str> {
        let fits = |pattern: &Option<String>, text: &str| {
            pattern.as_ref().is_none_or(|p| Regex::new(p).is_ok_and(|p| p.is_match(text)))
        };
        let lacks = |pattern: &Option<String>| {
            pattern.as_ref().is_none_or(|p| Regex::new(p).is_ok_and(|p| !p.is_match(code)))
        };
        self.diagnoses
            .iter()
            .find(|d| {
                d.check == check
                    && d.outcome.is_none_or(|wanted| wanted == outcome)
                    && fits(&d.text, text)
                    && fits(&d.source, code)
                    && lacks(&d.lacks)
            })
            .map(|d| d.says.trim())
    }
}

/// Code without its comments, so that a pattern is not met by a remark.
pub fn code_of(folder: &Path, extension: &str) -> String {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> =
        files.map(|f| f.path()).filter(|p| p.extension().is_some_and(|e| e == extension)).collect();
    paths.sort();
    let texts = paths.iter().filter_map(|path| std::fs::read_to_string(path).ok());
    texts.map(|text| text.lines().map(|l| uncommented(l) + "\n").collect::<String>()).collect()
}

fn uncommented(line: &str) -> String {
    line.split("//").next().unwrap_or_default().to_owned()
}

/// A source, cut at its markers.
#[derive(Debug, PartialEq)]
pub enum Part {
    Plain(String),
    Block { name: String, solution: String, starter: String },
}

pub fn parts(text: &str) -> Result<Vec<Part>> {
    let mut parts = vec![Part::Plain(String::new())];
    let mut inside: Option<(String, String, String, bool)> = None;
    for (number, line) in text.lines().enumerate() {
        let bare = line.trim();
        let refuse = |what: &str| -> Result<()> { bail!("line {}: {what}", number + 1) };
        if let Some(name) = bare.strip_prefix("// SOLUTION ") {
            if inside.is_some() {
                refuse("SOLUTION inside a block")?;
            }
            inside = Some((name.to_owned(), String::new(), String::new(), false));
        } else if bare == "// STARTER" {
            match &mut inside {
                Some((.., started)) if !*started => *started = true,
                _ => refuse("STARTER without its SOLUTION")?,
            }
        } else if bare == "// END" {
            let Some((name, solution, starter, _)) = inside.take() else {
                return refuse("END without its SOLUTION").map(|()| parts);
            };
            parts.push(Part::Block { name, solution, starter });
            parts.push(Part::Plain(String::new()));
        } else if let Some((_, solution, starter, started)) = &mut inside {
            if *started {
                *starter += &(starter_line(line) + "\n");
            } else {
                *solution += &format!("{line}\n");
            }
        } else if let Some(Part::Plain(plain)) = parts.last_mut() {
            *plain += &format!("{line}\n");
        }
    }
    if let Some((name, ..)) = inside {
        bail!("the block {name:?} has no END");
    }
    Ok(parts)
}

/// A starter's line lies in a comment at the indentation of the code.
fn starter_line(line: &str) -> String {
    let bare = line.trim_start();
    let indent = &line[..line.len() - bare.len()];
    let code = bare.strip_prefix("// ").or_else(|| bare.strip_prefix("//")).unwrap_or(bare);
    if code.is_empty() { String::new() } else { format!("{indent}{code}") }
}

/// The blocks of a wrong answer.
fn replacements(text: &str) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for part in parts(text)? {
        match part {
            Part::Block { name, solution, .. } => {
                found.insert(name, solution);
            }
            Part::Plain(text) => {
                if text.lines().any(|l| !l.trim().is_empty() && !l.starts_with("//")) {
                    bail!("a wrong answer has code outside its blocks: {text}");
                }
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a();\n    // SOLUTION one\n    b(1);\n    // STARTER\n    // b(2);\n    \
                        // // TODO: which?\n    // END\nc();\n";

    #[test]
    fn a_starter_and_a_solution_are_one_text() {
        let found = parts(TEXT).unwrap();
        assert_eq!(found.len(), 3);
        let Part::Block { name, solution, starter } = &found[1] else { panic!("{found:?}") };
        assert_eq!((name.as_str(), solution.as_str()), ("one", "    b(1);\n"));
        assert_eq!(starter, "    b(2);\n    // TODO: which?\n");
    }

    #[test]
    fn markers_that_do_not_match_are_refused() {
        for (text, says) in [
            ("// SOLUTION a\n", "no END"),
            ("// END\n", "END without"),
            ("// STARTER\n", "STARTER without"),
            ("// SOLUTION a\n// SOLUTION b\n", "inside a block"),
        ] {
            let error = parts(text).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        assert!(replacements("code();\n").is_err());
    }

    #[test]
    fn every_exercise_is_complete() {
        for one in all().unwrap() {
            assert!(!one.checks.is_empty(), "{}", one.name);
        }
    }
}
