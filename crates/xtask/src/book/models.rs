//! The book's tables of outcomes: what loom found, what ThreadSanitizer reports, what a real run does.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, Result};
use lesson_kit::lesson::{self, Lesson, State, Verdict};

use super::preprocess;
use crate::model::{self, Line};
use crate::paths;

const BUILDS: [&str; 2] = ["3.14", "3.14t"];

fn state_of(line: &Line) -> &str {
    line.state.as_deref().unwrap_or("mutant")
}

fn found(lines: &[Line], lesson: &str, variant: &str, build: &str) -> Result<Line> {
    lines
        .iter()
        .find(|line| line.lesson == lesson && line.variant == variant && line.build == build)
        .cloned()
        .with_context(|| {
            format!("results/models.json lacks {lesson} {variant} {build}; run `model --save`")
        })
}

/// The models of a lesson: outcome by build, and why.
pub fn table(lesson: &Lesson) -> Result<String> {
    let lines = model::reference()?;
    let mut out = String::from("| | model | 3.14 | 3.14t | why |\n|---|---|---|---|---|\n");
    for one in &lesson.models {
        let mut cells = Vec::new();
        for build in BUILDS {
            let line = found(&lines, &lesson.name, &one.variant, build)?;
            cells.push((state_of(&line).to_owned(), model::words(line.outcome)));
        }
        let name = one.variant.trim_start_matches("mutant_");
        let reason = match &one.mutant {
            Some(change) => format!("*{change}*: {}", one.reason),
            None => one.reason.clone(),
        };
        let _ = writeln!(
            out,
            "| {} | `{name}` | {} | {} | {reason} |",
            cells[0].0, cells[0].1, cells[1].1
        );
    }
    Ok(out)
}

/// Every model of every lesson.
pub fn all(mutants: bool) -> Result<String> {
    let head = if mutants { "mutant" } else { "model" };
    let mut out = format!("| lesson | {head} | 3.14 | 3.14t | seconds |\n|---|---|---|---|---|\n");
    let mut rows: BTreeMap<(String, String), Vec<Line>> = BTreeMap::new();
    for line in model::reference()?.into_iter().filter(|line| line.mutant.is_some() == mutants) {
        rows.entry((line.lesson.clone(), line.variant.clone())).or_default().push(line);
    }
    for ((lesson, variant), lines) in rows {
        let cell = |build: &str| {
            lines.iter().find(|l| l.build == build).map_or("not run", |l| model::words(l.outcome))
        };
        let name = match &lines[0].mutant {
            Some(change) => change.clone(),
            None => format!("{}: `{variant}`", state_of(&lines[0])),
        };
        let seconds: f64 = lines.iter().map(|line| line.seconds).sum();
        let _ = writeln!(
            out,
            "| {lesson} | {name} | {} | {} | {seconds:.2} |",
            cell("3.14"),
            cell("3.14t")
        );
    }
    Ok(out)
}

/// The order in which a model failed.
pub fn story(lesson: &str, variant: &str, build: &str) -> Result<String> {
    let line = found(&model::reference()?, lesson, variant, build)?;
    let what = match line.outcome {
        Verdict::Passes => format!("one of {} orders, all of which end well", line.orders),
        other => format!("{}, found by loom in order {}", model::words(other), line.orders),
    };
    let steps = line.story.join("\n");
    Ok(format!("```text\n{steps}\n```\n\n<small>{build}: {what}</small>\n"))
}

/// Lesson by lesson: before and after, in the model, under ThreadSanitizer and in a real run.
pub fn outcomes() -> Result<String> {
    let mut out = String::from(
        "| lesson | | build | model | TSan | real runs |\n|---|---|---|---|---|---|\n",
    );
    let lines = model::reference()?;
    for lesson in lesson::all(paths::root())?.iter().filter(|one| !one.faults.is_empty()) {
        for (state, word) in [(State::Before, "before"), (State::After, "after")] {
            for build in BUILDS {
                let of = |line: &&Line| {
                    line.lesson == lesson.name && line.build == build && state_of(line) == word
                };
                let models = counted(lines.iter().filter(of).map(|l| model::words(l.outcome)));
                let real = counted(
                    lesson
                        .faults
                        .iter()
                        .filter(|fault| fault.state == state)
                        .filter_map(|fault| fault.expect.get(build))
                        .map(|expected| preprocess::words(expected.outcome)),
                );
                let tsan = match lesson.tsan.iter().find(|run| run.state == state) {
                    Some(_) if build == "3.14" => "not run",
                    Some(run) if run.line.is_some() => "race",
                    Some(_) => "silent",
                    None => "",
                };
                let _ = writeln!(
                    out,
                    "| {} | {word} | {build} | {models} | {tsan} | {real} |",
                    lesson.name
                );
            }
        }
    }
    Ok(out)
}

/// "3 ok, 1 hangs".
fn counted<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    let parts: Vec<String> = counts.iter().map(|(word, n)| format!("{n} {word}")).collect();
    parts.join(", ")
}

/// What a thread without a thread state may call.
pub fn bare_thread() -> Result<String> {
    let file = paths::root().join("crates/eager-init/bare-thread.json");
    let calls: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let mut out = String::from("| call | 3.14 | 3.14t |\n|---|---|---|\n");
    for (call, outcomes) in calls {
        let cell = |build: &str| outcomes[build].as_str().unwrap_or("not run").to_owned();
        let _ = writeln!(out, "| `{call}` | {} | {} |", cell("3.14"), cell("3.14t"));
    }
    Ok(out)
}
