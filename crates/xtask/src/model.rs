//! `cargo xtask model [lesson]`: loom over the lessons' models, each in a process of its own.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use lesson_kit::lesson::{self, Lesson, Model, State, Verdict};
use serde::{Deserialize, Serialize};

use crate::{paths, pool, sh};

/// A model that takes longer has grown too large for loom; see `explore_bounded`.
const LIMIT: Duration = Duration::from_secs(120);

#[derive(Args)]
pub struct Options {
    /// One lesson; without it, all of them
    lesson: Option<String>,
    /// Only the mutants: each must be caught
    #[arg(long)]
    mutants: bool,
    /// Tell the story of the runs that fail, step by step
    #[arg(long)]
    story: bool,
    /// One JSON object a line, and nothing else on standard output
    #[arg(long)]
    json: bool,
    /// Also keep the outcomes as the book's table (results/models.json)
    #[arg(long)]
    save: bool,
}

impl Options {
    /// Every model and every mutant.
    pub fn all() -> Self {
        Self { lesson: None, mutants: false, story: false, json: false, save: false }
    }
}

/// A line of `--json`.
#[derive(Clone, Serialize, Deserialize)]
pub struct Line {
    pub lesson: String,
    pub variant: String,
    /// `before` or `after`, unless it is a mutant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// What was done to the after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mutant: Option<String>,
    pub build: String,
    pub expected: Verdict,
    pub outcome: Verdict,
    pub seconds: f64,
    pub ok: bool,
    /// Orders that were tried, up to the one that failed.
    pub orders: u64,
    /// The order that failed, step by step; if none did, one of them.
    pub story: Vec<String>,
}

pub fn run(options: &Options) -> Result<()> {
    let lessons = lesson::all(paths::root())?;
    let chosen: Vec<&Lesson> = match &options.lesson {
        Some(name) => vec![lesson::find(&lessons, name)?],
        None => lessons.iter().collect(),
    };
    let program = build()?;
    complete(&program, &lessons)?;
    let work: Vec<(&Lesson, &Model, &String)> = chosen
        .iter()
        .flat_map(|lesson| lesson.models.iter().map(move |model| (*lesson, model)))
        .filter(|(_, model)| !options.mutants || model.mutant.is_some())
        .flat_map(|(lesson, model)| model.expect.keys().map(move |build| (lesson, model, build)))
        .collect();
    if work.is_empty() {
        bail!("{}: no such model; lessons name theirs in lesson.toml", asked(options));
    }
    let mut lines = Vec::new();
    pool::in_order(
        &work,
        pool::cores(),
        |(lesson, model, build)| format!("{} {} {build}", lesson.name, model.variant),
        |(lesson, model, build)| one(&program, lesson, model, build),
        |line| {
            let line = line?;
            print(&line, options)?;
            lines.push(line);
            Ok(())
        },
    )?;
    let failed = lines.iter().filter(|line| !line.ok).count();
    if !options.json {
        let passed = lines.len() - failed;
        println!("\nmodels: {passed} passed, {failed} failed");
    }
    if failed > 0 {
        bail!("{failed} model(s) did not end as lesson.toml says; --story tells their steps");
    }
    if options.save {
        let text = serde_json::to_string_pretty(&lines)? + "\n";
        std::fs::write(paths::root().join("results/models.json"), text)?;
    }
    Ok(())
}

fn asked(options: &Options) -> &str {
    options.lesson.as_deref().unwrap_or("all lessons")
}

/// The outcomes that `--save` kept, for the book.
pub fn reference() -> Result<Vec<Line>> {
    let file = paths::root().join("results/models.json");
    let text = std::fs::read_to_string(&file)
        .context("no results/models.json; run `cargo xtask model --save`")?;
    Ok(serde_json::from_str(&text)?)
}

fn build() -> Result<PathBuf> {
    let step = sh::Step::new("building the models");
    let mut command = cargo(&["build", "--release", "--quiet", "-p", "models"]);
    sh::run_within(&mut command, Duration::from_secs(1800))?;
    step.done();
    Ok(paths::local("target/loom/release/models"))
}

/// Runs the tests of `interp-model` itself.
pub fn own_tests() -> Result<()> {
    sh::show(&mut cargo(&["test", "--release", "--quiet", "-p", "interp-model"]))
}

fn cargo(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command
        .current_dir(paths::root())
        .args(words)
        .env("RUSTFLAGS", "--cfg loom")
        .env("RUSTDOCFLAGS", "--cfg loom")
        .env("CARGO_TARGET_DIR", paths::local("target/loom"));
    command
}

/// Every model that was written is named in a lesson.toml, and the other way round.
fn complete(program: &PathBuf, lessons: &[Lesson]) -> Result<()> {
    let output = sh::run(Command::new(program).arg("list"))?;
    let written: Vec<String> =
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    let mut named = Vec::new();
    for lesson in lessons {
        named
            .extend(lesson.models.iter().map(|model| format!("{} {}", lesson.name, model.variant)));
    }
    if let Some(missing) = written.iter().find(|name| !named.contains(name)) {
        bail!("{missing}: a model that no lesson.toml names, so nobody would see it pass or fail");
    }
    if let Some(missing) = named.iter().find(|name| !written.contains(name)) {
        bail!("{missing}: lesson.toml names a model that is not in model.rs");
    }
    Ok(())
}

fn one(program: &PathBuf, lesson: &Lesson, model: &Model, build: &str) -> Result<Line> {
    let start = Instant::now();
    let name = || format!("the model {} of {} on {build}", model.variant, lesson.name);
    let mut command = Command::new(program);
    command.args(["run", &lesson.name, &model.variant, build]);
    let output = sh::output_within(&mut command, LIMIT).with_context(name)?;
    let outcome = verdict(&output).with_context(name)?;
    let expected = model.expect[build];
    let state = if model.state == State::Before { "before" } else { "after" };
    Ok(Line {
        lesson: lesson.name.clone(),
        variant: model.variant.clone(),
        state: model.mutant.is_none().then(|| state.into()),
        mutant: model.mutant.clone(),
        build: build.into(),
        expected,
        outcome,
        seconds: (start.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
        ok: outcome == expected,
        orders: orders(&output),
        story: story(&output),
    })
}

/// The second line: "after 12 orders".
fn orders(output: &Output) -> u64 {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let word = text.lines().nth(1).and_then(|line| line.split(' ').nth(1)).map(str::parse);
    word.and_then(Result::ok).unwrap_or(0)
}

/// The steps of the run that is told: what the program says after its first two lines.
fn story(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().skip(2).map(str::to_owned).collect()
}

/// The first word that the program says.
fn verdict(output: &Output) -> Result<Verdict> {
    let text = String::from_utf8_lossy(&output.stdout);
    let word = text.split(':').next().unwrap_or_default();
    serde_json::from_value(word.into()).with_context(|| {
        let errors = String::from_utf8_lossy(&output.stderr);
        format!("it ended with {} and said: {text}{errors}", output.status)
    })
}

pub fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passes => "passes",
        Verdict::Deadlock => "deadlock",
        Verdict::Race => "race",
        Verdict::WrongAnswer => "wrong answer",
    }
}

fn print(line: &Line, options: &Options) -> Result<()> {
    if options.json {
        println!("{}", serde_json::to_string(line)?);
        return Ok(());
    }
    let mark = if line.ok { "ok  " } else { "FAIL" };
    let kind = line.state.as_deref().unwrap_or("mutant");
    println!(
        "{mark} {:<6} {kind:<7}{:<20} {:<27} {}",
        line.build,
        line.lesson,
        line.variant,
        words(line.outcome)
    );
    if !line.ok {
        println!("     expected {}", words(line.expected));
    }
    if (options.story && line.outcome != Verdict::Passes) || !line.ok {
        for step in &line.story {
            println!("     {step}");
        }
    }
    Ok(())
}
