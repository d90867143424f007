//! `lesson.toml`: what a lesson says of itself, checked when it is read.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

/// A lesson.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lesson {
    /// Its name: the folder below `crates/`, and the word after `just bench`.
    pub name: String,
    /// One line.
    pub title: String,
    /// Minutes to work through it.
    pub minutes: u32,
    /// The files that people copy, relative to the crate.
    pub copy: Vec<String>,
    /// What the bench compares.
    pub bench: Bench,
    /// What happens, run for run.
    #[serde(rename = "fault")]
    pub faults: Vec<Fault>,
}

/// How a bench's table is made.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bench {
    /// The variants, in the order of the table; each with its words for a reader.
    pub variants: BTreeMap<String, String>,
    /// The variant that the lesson leads to.
    pub after: String,
    /// The variants that it is compared with, each as a ratio.
    pub compare: Vec<String>,
}

/// One run in a child interpreter, and how it ends on each build.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// `before` or `after`.
    pub state: State,
    /// The function in `faults.py` that is run.
    pub variant: String,
    /// Why it ends so; printed in the book.
    pub reason: String,
    /// By build: the outcome, and a pattern for what it says.
    pub expect: BTreeMap<String, Expected>,
}

/// Before the port or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As people have it.
    Before,
    /// Ported.
    After,
}

/// How a run is expected to end.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The class: see [`Outcome`].
    pub outcome: Outcome,
    /// A regular expression that the run's text must match.
    #[serde(default)]
    pub matches: String,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It did what it should.
    Ok,
    /// It ended without an error and with a wrong result.
    WrongAnswer,
    /// It raised.
    Exception,
    /// A signal ended it; the text names which.
    Signal,
    /// It did not end, and the watchdog ended it; the text has the stacks of its threads.
    Hang,
    /// It ended well, but with the GIL turned on.
    GilTurnedOn,
    /// It could not be run here, which is neither a pass nor a failure of the code.
    CouldNotRun,
}

/// Reads every `crates/*/lesson.toml`, in the order of the folders.
pub fn all(root: &Path) -> Result<Vec<Lesson>> {
    let mut lessons = Vec::new();
    let mut folders: Vec<_> = std::fs::read_dir(root.join("crates"))?
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.join("lesson.toml").is_file())
        .collect();
    folders.sort();
    for folder in folders {
        let file = folder.join("lesson.toml");
        let text = std::fs::read_to_string(&file)?;
        let lesson: Lesson =
            toml::from_str(&text).with_context(|| format!("in {}", file.display()))?;
        check(&lesson, &folder).with_context(|| format!("in {}", file.display()))?;
        lessons.push(lesson);
    }
    Ok(lessons)
}

fn check(lesson: &Lesson, folder: &Path) -> Result<()> {
    if folder.file_name().is_none_or(|name| name != lesson.name.as_str()) {
        bail!("the name {:?} is not that of its folder", lesson.name);
    }
    for file in &lesson.copy {
        if !folder.join(file).exists() {
            bail!("copy names {file}, which does not exist");
        }
    }
    let known = |name: &String| lesson.bench.variants.contains_key(name);
    for name in lesson.bench.compare.iter().chain([&lesson.bench.after]) {
        if !known(name) {
            bail!("bench names {name:?}, which is not one of its variants");
        }
    }
    for fault in &lesson.faults {
        for build in ["3.14", "3.14t"] {
            if !fault.expect.contains_key(build) {
                bail!("fault {:?} does not say what happens on {build}", fault.variant);
            }
        }
    }
    Ok(())
}

/// The lesson of this name.
pub fn find<'a>(lessons: &'a [Lesson], name: &str) -> Result<&'a Lesson> {
    lessons.iter().find(|lesson| lesson.name == name).with_context(|| {
        let names: Vec<_> = lessons.iter().map(|lesson| lesson.name.as_str()).collect();
        format!("no lesson {name:?}; there are: {}", names.join(", "))
    })
}
