//! `cargo xtask exercise`: the workshop. A learner works in the git-ignored `workshop/`, which has no
//! path of this machine in it: copied to another checkout, it goes on there.

mod carets;
mod check;
mod make;
pub mod matrix;
mod text;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use lesson_kit::lesson::Outcome;
use serde::{Deserialize, Serialize};

use self::check::{Told, Work};
use self::make::{Made, Place};
use self::text::{Exercise, Kind, Language, View};
use crate::python::Build;
use crate::{extension, paths, pool, sh};

#[derive(Args)]
pub struct Options {
    #[command(subcommand)]
    word: Word,
}

#[derive(Subcommand)]
enum Word {
    /// All exercises, and how far you are
    List {
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Begin one, or go on with it: nothing of yours is overwritten
    Start { name: String },
    /// Check your work; without a name, what you started last
    Check {
        name: Option<String>,
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Check again whenever you save
    Watch { name: Option<String> },
    /// The next hint of three
    Hint { name: Option<String> },
    /// The solution, with carets under what changed
    Solution { name: Option<String> },
    /// For those who write exercises: solution, starter and wrong answers, each held to its text
    Matrix { name: Option<String> },
    /// Back to the starter; your files are kept beside it
    Reset { name: Option<String> },
}

pub fn run(options: &Options) -> Result<()> {
    let all = text::all()?;
    let mut progress = Progress::load()?;
    let mut chosen = |name: &Option<String>| progress.choose(&all, name.as_deref());
    match &options.word {
        Word::List { json } => list(&all, &progress, *json),
        Word::Start { name } => start(progress.begin(&all, name)?, &mut progress),
        Word::Check { name, json } => {
            let one = chosen(name)?;
            let passed = look(one, *json)?;
            progress.of(&one.name).passed = passed;
            progress.save()?;
            if passed && !json {
                println!("\n{}", next(&all, &progress, one));
            }
            if !passed {
                bail!("not there yet; `just exercise hint` says a little more");
            }
            Ok(())
        }
        Word::Watch { name } => watch(chosen(name)?, &mut progress),
        Word::Hint { name } => hint(chosen(name)?, &mut progress),
        Word::Solution { name } => {
            print!("{}", carets::solution(chosen(name)?)?);
            Ok(())
        }
        Word::Matrix { name } => matrix::run(name.as_deref()),
        Word::Reset { name } => reset(chosen(name)?, &mut progress),
    }
}

/// What `workshop/progress.json` keeps.
#[derive(Default, Serialize, Deserialize)]
struct Progress {
    /// What was started last.
    current: Option<String>,
    exercises: BTreeMap<String, State>,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    passed: bool,
    hints: usize,
}

fn workshop() -> PathBuf {
    paths::root().join("workshop")
}

impl Progress {
    fn load() -> Result<Self> {
        match std::fs::read_to_string(workshop().join("progress.json")) {
            Ok(text) => serde_json::from_str(&text)
                .context("workshop/progress.json is damaged; without it, `start` begins a new one"),
            Err(_) => Ok(Self::default()),
        }
    }

    fn save(&self) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        make::write(&workshop().join("progress.json"), &text)
    }

    fn of(&mut self, name: &str) -> &mut State {
        self.exercises.entry(name.to_owned()).or_default()
    }

    fn find<'a>(all: &'a [Exercise], name: &str) -> Result<&'a Exercise> {
        all.iter().find(|one| one.name == name).with_context(|| {
            let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
            format!("no exercise {name:?}; there are: {}", names.join(", "))
        })
    }

    fn begin<'a>(&mut self, all: &'a [Exercise], name: &str) -> Result<&'a Exercise> {
        let one = Self::find(all, name)?;
        self.current = Some(name.to_owned());
        Ok(one)
    }

    fn choose<'a>(&mut self, all: &'a [Exercise], name: Option<&str>) -> Result<&'a Exercise> {
        let name = name.or(self.current.as_deref());
        let name =
            name.context("name an exercise: `just exercise start toolchain` is the first")?;
        let one = Self::find(all, name)?;
        if !workshop().join(name).is_dir() {
            bail!("{name} was not started; `just exercise start {name}` does");
        }
        Ok(one)
    }
}

fn list(all: &[Exercise], progress: &Progress, json: bool) -> Result<()> {
    for one in all {
        let state = progress.exercises.get(&one.name);
        let word = match state {
            Some(state) if state.passed => "done",
            Some(_) => "started",
            None => "",
        };
        let language = if one.language == Language::Rust { "Rust" } else { "C++" };
        if json {
            let line = serde_json::json!({
                "exercise": one.name, "lesson": one.lesson, "minutes": one.minutes,
                "language": language, "title": one.title, "state": word,
                "hints": state.map_or(0, |state| state.hints),
            });
            println!("{line}");
        } else {
            println!("{word:<8}{:<24}{language:<5}{:>3} min  {}", one.name, one.minutes, one.title);
        }
    }
    if !json {
        let done = progress.exercises.values().filter(|state| state.passed).count();
        let minutes: u32 = all.iter().map(|one| one.minutes).sum();
        println!("\n{done} of {} done; all together {minutes} minutes", all.len());
    }
    Ok(())
}

/// The manifest of the workshop names what was started.
fn manifest(progress: &Progress, all: &[Exercise]) -> Result<()> {
    let rust = |name: &&String| {
        all.iter().any(|one| one.name == **name && one.language == Language::Rust)
            && workshop().join(name).is_dir()
    };
    let members: Vec<String> = progress.exercises.keys().filter(rust).cloned().collect();
    make::workspace(&workshop(), &members)
}

fn start(one: &Exercise, progress: &mut Progress) -> Result<()> {
    let folder = workshop().join(&one.name);
    if folder.is_dir() {
        println!("{}: already there, and as you left it\n", one.name);
    } else {
        make::package(one, &folder, &one.name, &one.files(View::Starter)?)?;
    }
    make::write(&folder.join("README.md"), &readme(one))?;
    progress.of(&one.name);
    manifest(progress, &text::all()?)?;
    progress.save()?;
    println!("{}", readme(one));
    for (file, _) in one.files(View::Starter)? {
        println!("  workshop/{}/src/{file}", one.name);
    }
    println!("\nEdit, then `just exercise check`, or `just exercise watch` in a second terminal.");
    Ok(())
}

/// What a learner reads first.
fn readme(one: &Exercise) -> String {
    let mut text = format!("# {}\n\n{}\n", one.title, one.task.trim());
    if let Some(lesson) = &one.lesson {
        text += &format!("\nThe lesson: `book/src/{lesson}.md`.\n");
    }
    text += "\nIt is done when:\n\n";
    for check in &one.checks {
        text += &format!("- {} ({})\n", check.property, check.builds.join(", "));
    }
    text
}

/// Interpreter and environment for each build; the first time takes a minute.
fn places(builds: &[Build]) -> Result<Vec<Place>> {
    let prepared = |build: &Build| {
        let (interpreter, env) = extension::prepare(*build)?;
        Ok(Place { interpreter, env })
    };
    builds.iter().map(prepared).collect()
}

/// Checks a learner's work and prints what came of it; whether all passed.
fn look(one: &Exercise, json: bool) -> Result<bool> {
    let places = places(&Build::BOTH)?;
    let folder = workshop().join(&one.name);
    let work = Work { exercise: one, sources: folder.join("src") };
    let step = sh::Step::new(format!("building {}", one.name));
    let mut made: BTreeMap<String, Made> = BTreeMap::new();
    for place in &places {
        let built = match one.language {
            Language::Rust => {
                manifest(&Progress::load()?, &text::all()?)?;
                let all = make::rust(&workshop(), std::slice::from_ref(&one.name), place)?;
                all.into_values().next().context("one package was asked for")?
            }
            Language::Cpp => make::cpp(&folder, &one.name, place, false)?,
        };
        let broken = built.is_err();
        made.insert(place.build(), built);
        if broken {
            break;
        }
    }
    step.done();
    let extra = extra(one, &work, &places[1])?;
    let mut runs = Vec::new();
    for check in &one.checks {
        for place in places.iter().filter(|place| check.builds.contains(&place.build())) {
            runs.push((check, place));
        }
    }
    // One word for what does not compile, instead of one for each check.
    if let Some((build, _)) = made.iter().find(|(_, made)| made.is_err()) {
        runs.truncate(1);
        runs[0].1 = places.iter().find(|place| place.build() == *build).context("it was built")?;
    }
    let mut passed = true;
    pool::in_order(
        &runs,
        pool::cores(),
        |(check, place)| format!("{} {}", check.run, place.build()),
        |(check, place)| {
            let made = match check.kind {
                Kind::Python => made.get(&place.build()),
                _ => extra.get(&check.kind.word()).or(made.get(&place.build())),
            };
            work.run(check, place, made.context("built for each build")?)
        },
        |told| {
            let told = told?;
            passed &= told.ok;
            show(&told, json)
        },
    )?;
    Ok(passed)
}

impl Kind {
    fn word(self) -> String {
        format!("{self:?}")
    }
}

/// What checks of other kinds need, by the kind's word; only what this exercise asks for.
fn extra(one: &Exercise, work: &Work, place: &Place) -> Result<BTreeMap<String, Made>> {
    let mut made = BTreeMap::new();
    let asks = |kind| one.checks.iter().any(|check| check.kind == kind);
    if asks(Kind::Model) {
        let name = format!("model-{}", one.name);
        let all = make::models(&[(one, name, work.sources.clone())])?;
        made.extend(all.into_values().map(|made| (Kind::Model.word(), made)));
    }
    if asks(Kind::Tsan) {
        let folder = work.sources.parent().context("src lies in a folder")?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        made.insert(Kind::Tsan.word(), make::cpp(folder, &name, place, true)?);
    }
    Ok(made)
}

fn show(told: &Told, json: bool) -> Result<()> {
    if json {
        println!("{}", serde_json::to_string(told)?);
        return Ok(());
    }
    let mark = if told.ok { "ok  " } else { "FAIL" };
    println!("{mark} {:<6} {}", told.build, told.property);
    if told.ok {
        return Ok(());
    }
    // A compiler's later errors follow from its first.
    const LINES: usize = 30;
    let text = if told.outcome == Outcome::Hang { standing(&told.text) } else { told.text.clone() };
    for line in text.lines().take(LINES) {
        println!("     {line}");
    }
    let more = text.lines().count().saturating_sub(LINES);
    if more > 0 {
        println!("     ... and {more} lines more, with --json");
    }
    if let Some(says) = &told.says {
        println!();
        for line in says.lines() {
            println!("     {line}");
        }
    }
    println!();
    Ok(())
}

/// Where each thread of a hang stands: of its stack, the innermost frame that is not the library's.
fn standing(text: &str) -> String {
    let mut out = String::new();
    let mut thread = None;
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once(" [").filter(|_| line.starts_with("Thread 0x")) {
            thread = Some(rest.split(']').next().unwrap_or_default().to_owned());
        } else if line.starts_with("Thread 0x") || line.starts_with("Current thread 0x") {
            thread = Some("main".to_owned());
        } else if let Some(frame) = line.trim().strip_prefix("File \"") {
            let library = frame.contains("/threading.py\"");
            if let Some(name) = thread.take_if(|_| !library) {
                let file = frame.split('/').next_back().unwrap_or(frame).replacen('"', "", 1);
                out += &format!("{name} stands in {file}\n");
            }
        } else if !line.trim().is_empty() && !line.starts_with("thread ") {
            out += &format!("{line}\n");
        }
    }
    out
}

fn next(all: &[Exercise], progress: &Progress, one: &Exercise) -> String {
    let open = |other: &&Exercise| progress.exercises.get(&other.name).is_none_or(|s| !s.passed);
    let after = all.iter().skip_while(|other| other.name != one.name).find(open);
    match after {
        Some(next) => format!(
            "{} is done. Compare with `just exercise solution`; next: `just exercise start {}`",
            one.name, next.name
        ),
        None => format!("{} is done.", one.name),
    }
}

fn watch(one: &Exercise, progress: &mut Progress) -> Result<()> {
    let src = workshop().join(&one.name).join("src");
    let newest = || -> Option<SystemTime> {
        let files = std::fs::read_dir(&src).ok()?.flatten();
        files.filter_map(|file| file.metadata().ok()?.modified().ok()).max()
    };
    let mut seen = None;
    println!("watching workshop/{}/src; Ctrl-C ends it", one.name);
    loop {
        let now = newest();
        if now == seen {
            std::thread::sleep(Duration::from_millis(300));
            continue;
        }
        seen = now;
        match look(one, false) {
            Ok(passed) => {
                progress.of(&one.name).passed = passed;
                progress.save()?;
                if passed {
                    println!("\nall of it passes");
                    return Ok(());
                }
            }
            // A file that is half saved must not end the watching.
            Err(error) => println!("{error:#}"),
        }
    }
}

fn hint(one: &Exercise, progress: &mut Progress) -> Result<()> {
    let state = progress.of(&one.name);
    let last = one.hints.len();
    state.hints = (state.hints + 1).min(last);
    for (number, hint) in one.hints.iter().take(state.hints).enumerate() {
        println!("{} of {last}: {}\n", number + 1, hint.trim());
    }
    if state.hints == last {
        println!("That is all; `just exercise solution` shows one way.");
    }
    progress.save()
}

fn reset(one: &Exercise, progress: &mut Progress) -> Result<()> {
    let src = workshop().join(&one.name).join("src");
    let kept = (1..).map(|n| src.with_file_name(format!("before-reset-{n}")));
    let kept = kept.into_iter().find(|place| !place.exists()).context("numbers do not end")?;
    std::fs::rename(&src, &kept)?;
    let folder = workshop().join(&one.name);
    make::package(one, &folder, &one.name, &one.files(View::Starter)?)?;
    *progress.of(&one.name) = State::default();
    progress.save()?;
    println!("{} is as it began; your files are in {}", one.name, paths::shown(&kept));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::text::COMPILES;
    use super::*;

    #[test]
    fn the_tasks_fit_the_workshop() {
        for one in text::all().unwrap() {
            assert!((5..=60).contains(&one.minutes), "{}: {} min", one.name, one.minutes);
            assert!(readme(&one).contains("It is done when"), "{}", one.name);
        }
    }

    #[test]
    fn of_a_hang_it_is_told_where_each_thread_stands() {
        let text = "no end within 6 s\nthread 7 \"python\" state S in futex\nThread 0x0007 [Thread-1 \
                    (run)] (most recent call first):\n  File \"/lib/threading.py\", line 3 in wait\n  \
                    File \"/x/check.py\", line 20 in work\n  File \"/x/check.py\", line 9 in other\n\n\
                    Thread 0x0008 (most recent call first):\n  File \"/x/check.py\", line 1 in f\n";
        assert_eq!(
            standing(text),
            "no end within 6 s\nThread-1 (run) stands in check.py, line 20 in work\nmain stands in \
             check.py, line 1 in f\n"
        );
    }

    #[test]
    fn a_check_is_never_named_like_the_compiler_s() {
        for one in text::all().unwrap() {
            assert!(one.checks.iter().all(|check| check.run != COMPILES), "{}", one.name);
        }
    }
}
