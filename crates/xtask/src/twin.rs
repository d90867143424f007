//! The C++ twins: the module `twin`, built for each interpreter, and `cargo xtask tsan`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use lesson_kit::lesson::{self, Lesson, State, Tsan};
use serde::Serialize;

use crate::extension::{self, Ready};
use crate::python::{Build, Env};
use crate::{hash, paths, pool, sh};

const LIMIT: Duration = Duration::from_secs(600);
/// What a run under ThreadSanitizer ends with if it reported something.
const REPORTED: i32 = 66;

pub fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "g++".into())
}

/// The compiler's word for the interpreter's headers, which are not ours to warn about.
pub fn headers(env: &Env) -> Result<String> {
    let code = "import sysconfig; print(sysconfig.get_path('include'))";
    let include = sh::run(env.command().args(["-c", code]))?;
    Ok(format!("-isystem{}", String::from_utf8_lossy(&include.stdout).trim()))
}

/// The folder with `twin.so` for an interpreter, for PYTHONPATH; built if it is not there.
pub fn build(ready: &Ready, sanitizer: Option<&str>) -> Result<PathBuf> {
    let source = paths::root().join("cpp/twin");
    let name = ready.interpreter.build.name();
    let folder = paths::local(&format!("twin/{name}{}", sanitizer.map_or("", |_| "-tsan")));
    let version = &ready.interpreter.facts.version;
    let wanted = hash::text(&format!("{} {version} {}", compiler(), hash::tree(&[&source], &[])?));
    let stamp = folder.join("stamp");
    if std::fs::read_to_string(&stamp).is_ok_and(|have| have == wanted) {
        return Ok(folder);
    }
    let step = sh::Step::new(format!(
        "C++ twins for {name}{}",
        sanitizer.map_or(String::new(), |which| format!(" with -fsanitize={which}"))
    ));
    std::fs::create_dir_all(&folder)?;
    let include = headers(&ready.env)?;
    let mut files: Vec<PathBuf> = std::fs::read_dir(&source)?
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "cc"))
        .collect();
    files.sort();
    let mut objects = Vec::new();
    pool::in_order(
        &files,
        pool::cores(),
        |file| file.display().to_string(),
        |file| {
            let object = folder.join(file.file_stem().unwrap_or_default()).with_extension("o");
            let mut command = Command::new(compiler());
            command
                .args(["-std=c++20", "-O2", "-g", "-fPIC", "-Wall", "-Wextra", "-Werror", "-c"])
                .arg(&include)
                .args(sanitizer.map(|which| format!("-fsanitize={which}")))
                .arg(file)
                .arg("-o")
                .arg(&object);
            sh::run_within(&mut command, LIMIT).map(|_| object)
        },
        |object| {
            objects.push(object?);
            Ok(())
        },
    )
    .context("a C++ twin does not compile")?;
    let mut link = Command::new(compiler());
    link.args(["-shared", "-o"])
        .arg(folder.join("twin.so"))
        .args(&objects)
        .args(sanitizer.map(|which| format!("-fsanitize={which}")));
    sh::run_within(&mut link, LIMIT)?;
    std::fs::write(stamp, wanted)?;
    step.done();
    Ok(folder)
}

#[derive(Args)]
pub struct Options {
    /// One lesson; without it, all of them
    lesson: Option<String>,
    /// One JSON object a line, and nothing else on standard output
    #[arg(long)]
    json: bool,
}

impl Options {
    /// Every lesson.
    pub fn all() -> Self {
        Self { lesson: None, json: false }
    }
}

/// A line of `--json`.
#[derive(Serialize)]
struct Line<'a> {
    lesson: &'a str,
    state: State,
    call: &'a str,
    build: &'a str,
    /// `file.cc:line` that must be reported, or nothing.
    expected: Option<String>,
    /// The places of the report, outermost frame first.
    observed: Vec<String>,
    ok: bool,
    #[serde(skip)]
    text: String,
}

/// Runs the twins' functions under ThreadSanitizer, on the ordinary free-threaded interpreter.
pub fn tsan(options: &Options) -> Result<()> {
    let lessons = lesson::all(paths::root())?;
    let chosen: Vec<&Lesson> = match &options.lesson {
        Some(name) => vec![lesson::find(&lessons, name)?],
        None => lessons.iter().collect(),
    };
    let work: Vec<(&Lesson, &Tsan)> =
        chosen.iter().flat_map(|one| one.tsan.iter().map(move |run| (*one, run))).collect();
    if work.is_empty() {
        bail!("no lesson asked for has a [[tsan]] entry in its lesson.toml");
    }
    let ready = extension::ready(&[Build::parse("3.14t")?])?.remove(0);
    let folder = build(&ready, Some("thread"))?;
    let mut tally = pool::Tally::default();
    pool::in_order(
        &work,
        pool::cores(),
        |(lesson, run)| format!("{} {}", lesson.name, run.call),
        |(lesson, run)| one(&ready, &folder, lesson, run),
        |line| {
            let line = line?;
            tally.count(line.ok);
            show(&line, options.json)
        },
    )?;
    tally.end(
        "tsan",
        "run(s) were not reported as lesson.toml says; look at the lines above",
        options.json,
    )
}

/// The ordinary interpreter with ThreadSanitizer loaded: it sees the modules that were built for it.
pub fn under_tsan(env: &Env) -> Result<Command> {
    let library = sh::run(Command::new(compiler()).arg("-print-file-name=libtsan.so"))?;
    let library = String::from_utf8_lossy(&library.stdout).trim().to_owned();
    if !Path::new(&library).is_absolute() {
        bail!("{} has no libtsan.so; install it (Debian: libtsan2), or set CXX", compiler());
    }
    let mut python = Command::new("setarch");
    // ThreadSanitizer wants the old layout of the address space; setarch gives it where it exists.
    if Path::new("/usr/bin/setarch").exists() {
        python.arg("-R").arg(env.python());
    } else {
        python = Command::new(env.python());
    }
    env.environment_of(&mut python);
    let options = format!("ignore_noninstrumented_modules=1 exitcode={REPORTED}");
    python.env("LD_PRELOAD", library).env("TSAN_OPTIONS", options);
    Ok(python)
}

fn one<'a>(ready: &Ready, folder: &Path, lesson: &'a Lesson, run: &'a Tsan) -> Result<Line<'a>> {
    let expected = run.line.as_deref().map(place).transpose()?;
    let code = format!("import sys, twin; twin.{}(); assert not sys._is_gil_enabled()", run.call);
    let mut python = under_tsan(&ready.env)?;
    python.args(["-c", &code]).env("PYTHONPATH", folder);
    let output = sh::output_within(&mut python, LIMIT)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let observed = places(&text, "cpp/twin/");
    let ok = match (&expected, output.status.code()) {
        (Some(place), Some(REPORTED)) => {
            text.contains("WARNING: ThreadSanitizer: data race") && observed.contains(place)
        }
        (None, Some(0)) => observed.is_empty() && !text.contains("WARNING: ThreadSanitizer"),
        _ => false,
    };
    let (lesson, state, call) = (&lesson.name, run.state, &run.call);
    Ok(Line { lesson, state, call, build: "3.14t", expected, observed, ok, text })
}

/// `file.cc:mark` to `file.cc:number`.
fn place(mark: &str) -> Result<String> {
    let (file, mark) = mark.split_once(':').context("write file.cc:mark")?;
    let text = std::fs::read_to_string(paths::root().join("cpp/twin").join(file))
        .with_context(|| format!("no file cpp/twin/{file}"))?;
    let number = text
        .lines()
        .position(|line| line.trim_end().ends_with(&format!("// {mark}")))
        .with_context(|| format!("{file} has no line that ends in \"// {mark}\""))?;
    Ok(format!("{file}:{}", number + 1))
}

/// The places in files of `folder` that a report names, as `file:line`.
pub fn places(report: &str, folder: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in report.split_whitespace() {
        let Some(at) = word.find(folder) else { continue };
        let mut parts = word[at + folder.len()..].split(':');
        if let (Some(file), Some(line)) = (parts.next(), parts.next()) {
            let place = format!("{file}:{}", line.trim_end_matches(')'));
            if !found.contains(&place) {
                found.push(place);
            }
        }
    }
    found
}

fn show(line: &Line, json: bool) -> Result<()> {
    if json {
        println!("{}", serde_json::to_string(line)?);
        return Ok(());
    }
    let mark = if line.ok { "ok  " } else { "FAIL" };
    let said = match (&line.expected, line.observed.is_empty()) {
        (_, true) => "silent".to_owned(),
        (Some(place), _) if line.observed.contains(place) => format!("race at {place}"),
        _ => format!("race at {}", line.observed.join(", ")),
    };
    println!("{mark} {:<44} {said}", line.call);
    if !line.ok {
        println!("     expected {}", line.expected.as_deref().unwrap_or("nothing"));
        println!("     {}", line.text.trim_end().replace('\n', "\n     "));
    }
    Ok(())
}
