//! What the book takes from elsewhere: code from compiled files, numbers from results, outcomes from
//! lesson.toml. A source that is missing stops the build; nothing is left out silently.
//!
//! - `{{#code path:anchor}}`: the lines between `ANCHOR: anchor` and `ANCHOR_END: anchor`
//! - `{{#bench lesson}}`, `{{#chart lesson workload}}`, `{{#environment lesson}}`
//! - `{{#ratio lesson faster/build/threads slower/build/threads [workload]}}` (else the first)
//! - `{{#collections lesson workload}}`: garbage collections a second
//! - `{{#scaling all}}`: each lesson's speed-up, and what it foretells
//! - `{{#faults lesson}}`
//! - `{{#models lesson}}`, `{{#models all states}}`, `{{#models all mutants}}`: what loom found
//! - `{{#story lesson variant build}}`: the order in which a model failed, step by step
//! - `{{#wheels files}}`, `{{#wheels installers}}`, `{{#wheels costs}}`: what takes which wheel
//! - `{{#truth summary}}`, `{{#truth found}}`, `{{#truth peers}}`: the doctor's verdicts against real imports
//! - `{{#outcomes all}}`: each lesson in the model, under TSan and in a real run

use anyhow::{Context, Result, anyhow, bail};
use lesson_kit::lesson::{self, Outcome, State};
use mdbook_driver::book::{Book, BookItem};
use mdbook_preprocessor::{Preprocessor, PreprocessorContext};
use regex::{Captures, Regex};

use super::{models, numbers, shipping};
use crate::bench::report;
use crate::{bench, paths};

pub struct Sources;

impl Preprocessor for Sources {
    fn name(&self) -> &str {
        "sources"
    }

    fn run(&self, _: &PreprocessorContext, mut book: Book) -> Result<Book> {
        let mut failure = None;
        book.for_each_mut(|item| {
            if let BookItem::Chapter(chapter) = item {
                match expand(&chapter.content) {
                    Ok(text) => chapter.content = text,
                    Err(error) => {
                        failure.get_or_insert(error.context(format!("chapter {:?}", chapter.name)));
                    }
                }
            }
        });
        failure.map_or(Ok(book), Err)
    }
}

/// Replaces every directive of a chapter.
fn expand(text: &str) -> Result<String> {
    let directive = Regex::new(r"\{\{#(\w+) ([^}]+)\}\}")?;
    let mut failure = None;
    let expanded = directive.replace_all(text, |found: &Captures| {
        one(&found[1], &found[2]).unwrap_or_else(|error| {
            failure.get_or_insert(error.context(found[0].to_owned()));
            String::new()
        })
    });
    match failure {
        Some(error) => Err(error),
        None => Ok(expanded.into_owned()),
    }
}

fn one(word: &str, rest: &str) -> Result<String> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    match (word, &words[..]) {
        ("code", [place]) => code(place),
        ("bench", [name]) => {
            let results = bench::reference(name)?;
            Ok(format!(
                "<div class=\"wide\">\n{}\n</div>\n",
                report::html_table(&lesson(name)?, &results)
            ))
        }
        ("chart", [name, workload]) => {
            let svg = report::chart(&lesson(name)?, &bench::reference(name)?, workload)?;
            Ok(format!("<figure role=\"img\" aria-label=\"rows per second\">{svg}</figure>\n"))
        }
        ("environment", [name]) => Ok(numbers::environment(&bench::reference(name)?)),
        ("ratio", [name, faster, slower]) => {
            numbers::ratio(&bench::reference(name)?, faster, slower, None)
        }
        ("ratio", [name, faster, slower, workload]) => {
            numbers::ratio(&bench::reference(name)?, faster, slower, Some(workload))
        }
        ("collections", [name, workload]) => {
            Ok(numbers::collections(&bench::reference(name)?, workload))
        }
        ("scaling", ["all"]) => numbers::scaling(),
        ("faults", [name]) => faults(&lesson(name)?),
        ("models", [name]) => models::table(&lesson(name)?),
        ("models", ["all", kind @ ("states" | "mutants")]) => models::all(*kind == "mutants"),
        ("story", [name, variant, build]) => models::story(name, variant, build),
        ("outcomes", ["all"]) => models::outcomes(),
        ("wheels", [what]) => shipping::wheels(what),
        ("truth", [what]) => shipping::truth(what),
        ("bare-thread", ["table"]) => models::bare_thread(),
        _ => bail!("unknown directive or wrong number of words"),
    }
}

fn lesson(name: &str) -> Result<lesson::Lesson> {
    Ok(lesson::find(&lesson::all(paths::root())?, name)?.clone())
}

/// A fenced block with the lines of an anchor, their common indentation taken off.
pub fn code(place: &str) -> Result<String> {
    let (path, anchor) = place.split_once(':').context("write path:anchor")?;
    let text = std::fs::read_to_string(paths::root().join(path))
        .with_context(|| format!("no file {path}"))?;
    let (start, end) = (format!("ANCHOR: {anchor}"), format!("ANCHOR_END: {anchor}"));
    let at = |mark: &str| {
        let mut places =
            text.lines().enumerate().filter(|(_, line)| line.trim_end().ends_with(mark));
        match (places.next(), places.next()) {
            (Some((line, _)), None) => Ok(line),
            (None, _) => Err(anyhow!("{path} has no line that ends in {mark:?}")),
            _ => Err(anyhow!("{path} has {mark:?} more than once")),
        }
    };
    let (first, last) = (at(&start)?, at(&end)?);
    let lines: Vec<&str> = text
        .lines()
        .take(last)
        .skip(first + 1)
        .filter(|line| !line.contains("ANCHOR: ") && !line.contains("ANCHOR_END: "))
        .collect();
    if lines.iter().all(|line| line.trim().is_empty()) {
        bail!("{path}:{anchor} is empty");
    }
    let indent = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let body: String =
        lines.iter().map(|l| format!("{}\n", l.get(indent..).unwrap_or(""))).collect();
    let language = match path.rsplit('.').next() {
        Some("rs") => "rust,ignore",
        Some("cc" | "h" | "c") => "cpp",
        Some("py") => "python",
        other => other.unwrap_or(""),
    };
    Ok(format!("```{language}\n{body}```\n\n<small>{path}</small>\n"))
}

fn faults(lesson: &lesson::Lesson) -> Result<String> {
    let mut out = String::from("| | variant | 3.14 | 3.14t | why |\n|---|---|---|---|---|\n");
    for fault in &lesson.faults {
        let state = if fault.state == State::Before { "before" } else { "after" };
        let outcome = |build: &str| fault.expect.get(build).map_or("not run", |e| words(e.outcome));
        out += &format!(
            "| {state} | `{}` | {} | {} | {} |\n",
            fault.variant,
            outcome("3.14"),
            outcome("3.14t"),
            fault.reason
        );
    }
    Ok(out)
}

pub fn words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "ok",
        Outcome::WrongAnswer => "wrong answer",
        Outcome::Exception => "exception",
        Outcome::Signal => "killed by a signal",
        Outcome::Hang => "hangs",
        Outcome::GilTurnedOn => "turns the GIL on",
        Outcome::CouldNotRun => "could not run",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_anchor_is_an_error_and_not_an_empty_block() {
        let path = "crates/udf-in-process/src/after/scalar.rs";
        let block = code(&format!("{path}:call_block")).unwrap();
        assert!(block.starts_with("```rust,ignore\npub fn call_block("), "{block}");
        assert!(!block.contains("ANCHOR"), "{block}");
        let error = code(&format!("{path}:absent")).unwrap_err();
        assert!(
            error.to_string().contains("has no line that ends in \"ANCHOR: absent\""),
            "{error}"
        );
        assert!(code("absent.rs:x").unwrap_err().to_string().contains("no file absent.rs"));
    }

    #[test]
    fn an_unknown_directive_is_an_error() {
        assert!(expand("text {{#cod a:b}}").is_err());
        assert_eq!(expand("text {{ not one }}").unwrap(), "text {{ not one }}");
        assert!(expand("{{#ratio udf-in-process a/3.14/1 b/3.14/1}}").is_err());
    }

    #[test]
    fn outcomes_come_from_the_lesson() {
        let table = expand("{{#faults udf-in-process}}").unwrap();
        assert!(table.contains("| before | `naive_loses_blanks` | wrong answer | wrong answer |"));
    }
}
