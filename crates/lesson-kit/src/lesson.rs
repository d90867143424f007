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
    /// The dependencies of those files, by their names in the workspace. `copied/lib.rs` and
    /// `copied/test.py` are what the copy is built and tested with.
    #[serde(default)]
    pub copy_needs: Vec<String>,
    /// The same for a `build.rs` among them, which is copied to the crate's root.
    #[serde(default)]
    pub copy_build_needs: Vec<String>,
    /// What the bench compares; a lesson may have none.
    #[serde(default)]
    pub bench: Bench,
    /// What happens, run for run.
    #[serde(default, rename = "fault")]
    pub faults: Vec<Fault>,
    /// The models of its protocols (`model.rs`), and the mutants that they must catch.
    #[serde(default, rename = "model")]
    pub models: Vec<Model>,
    /// The C++ twin's runs under ThreadSanitizer.
    #[serde(default, rename = "tsan")]
    pub tsan: Vec<Tsan>,
}

impl Lesson {
    /// Whether there is something to measure.
    pub fn measured(&self) -> bool {
        !self.bench.variants.is_empty()
    }
}

/// One model, and how loom's exploration of it ends on each modelled build.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// `before` or `after`; a mutant is of the after.
    pub state: State,
    /// Its name in `model.rs`.
    pub variant: String,
    /// What was done to the after, if this is a mutant of it.
    pub mutant: Option<String>,
    /// Why it ends so.
    pub reason: String,
    /// By build.
    pub expect: BTreeMap<String, Verdict>,
}

/// How the exploration of a model ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every order was tried, and each came to its end.
    Passes,
    /// In some order nobody can go on.
    Deadlock,
    /// In some order two accesses, one of them a write, are not ordered.
    Race,
    /// In some order an assertion fails.
    WrongAnswer,
}

/// A function of the C++ twin, run under ThreadSanitizer on the free-threaded build.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tsan {
    /// `before` is reported, `after` is not.
    pub state: State,
    /// `submodule.function` of the module `twin`; called without arguments.
    pub call: String,
    /// For a before: the line of the report, as `file.cc:mark`, where the line ends in `// mark`.
    pub line: Option<String>,
}

/// How a bench's table is made.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bench {
    /// The variants, in the order of the table; each with its words for a reader.
    pub variants: BTreeMap<String, String>,
    /// The variant that the lesson leads to.
    pub after: String,
    /// The variants that it is compared with, each as a ratio.
    pub compare: Vec<String>,
    /// Thread counts, where the usual ones would not show the point.
    pub threads: Option<Vec<usize>>,
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
    /// Seconds after which it counts as a hang, where the usual limit would only waste time.
    pub within: Option<u64>,
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
        if lesson.measured() && !known(name) {
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
    for model in &lesson.models {
        for build in ["3.14", "3.14t"] {
            if !model.expect.contains_key(build) {
                bail!("model {:?} does not say how it ends on {build}", model.variant);
            }
        }
        let caught = model.expect.values().any(|verdict| *verdict != Verdict::Passes);
        if model.mutant.is_some() && !caught {
            bail!(
                "the mutant {:?} survives on both builds, so nothing tests for it",
                model.variant
            );
        }
    }
    for run in &lesson.tsan {
        if (run.state == State::Before) != run.line.is_some() {
            bail!("tsan {:?}: a before names its line, an after has none", run.call);
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
