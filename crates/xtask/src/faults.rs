//! `cargo xtask faults [lesson]`: each variant in a fresh child interpreter, under a watchdog.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use lesson_kit::lesson::{self, Expected, Fault, Lesson, Outcome, State};
use regex::Regex;
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use wait_timeout::ChildExt;

use crate::extension::{self, Ready};
use crate::python::Build;
use crate::{data, paths, pool, twin};

#[derive(Args)]
pub struct Options {
    /// One lesson; without it, all of them
    lesson: Option<String>,
    /// Builds to run on
    #[arg(long, value_delimiter = ',', default_values_t = ["3.14".to_owned(), "3.14t".to_owned()])]
    builds: Vec<String>,
    /// Seconds after which a run counts as a hang
    #[arg(long, default_value_t = 60)]
    watchdog: u64,
    /// One JSON object a line, and nothing else on standard output
    #[arg(long)]
    json: bool,
    /// Only the variants whose name contains this
    #[arg(long)]
    variant: Option<String>,
    /// Run each so many times, for example 20; every time must end as lesson.toml says
    #[arg(long, default_value_t = 1)]
    repeat: usize,
    /// Instead: each lesson's after for so many seconds on the free-threaded build, with 8 threads
    /// and a collecting one
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "600")]
    stress: Option<u64>,
}

impl Options {
    /// Every lesson under stress, for a short while.
    pub fn short_stress() -> Self {
        Self { stress: Some(3), ..Self::all() }
    }

    /// Every lesson on both builds.
    pub fn all() -> Self {
        let builds = Build::BOTH.map(Build::name).to_vec();
        Self {
            lesson: None,
            builds,
            watchdog: 60,
            json: false,
            variant: None,
            repeat: 1,
            stress: None,
        }
    }
}

/// A line of `--json`.
#[derive(Serialize)]
struct Line<'a> {
    lesson: &'a str,
    state: State,
    variant: &'a str,
    build: String,
    expected: Outcome,
    observed: Outcome,
    reason: &'a str,
    text: String,
    ok: bool,
    #[serde(skip)]
    pattern: &'a str,
}

/// How a run ended, and what it said.
#[derive(Debug, PartialEq)]
pub struct Observed {
    pub outcome: Outcome,
    pub text: String,
}

pub fn run(options: &Options) -> Result<()> {
    let lessons = lesson::all(paths::root())?;
    let chosen: Vec<&Lesson> = match &options.lesson {
        Some(name) => vec![lesson::find(&lessons, name)?],
        None => lessons.iter().collect(),
    };
    let builds =
        options.builds.iter().map(|name| Build::parse(name)).collect::<Result<Vec<_>>>()?;
    if let Some(seconds) = options.stress {
        return stress(&chosen, seconds, options);
    }
    let ready = extension::ready(&builds)?;
    data::flights(&ready[0].env)?;
    let twins = ready.iter().map(|one| twin::build(one, None)).collect::<Result<Vec<_>>>()?;
    let wanted = |fault: &&Fault| {
        options.variant.as_ref().is_none_or(|part| fault.variant.contains(part.as_str()))
    };
    let mut work = Vec::new();
    for lesson in chosen {
        for fault in lesson.faults.iter().filter(wanted) {
            for (one, twin) in ready.iter().zip(&twins) {
                let run = Run { lesson, fault, ready: one, twin };
                work.extend(std::iter::repeat_n(run, options.repeat));
            }
        }
    }
    if work.is_empty() {
        bail!("no such run; lesson.toml names the variants of each lesson");
    }
    let mut tally = pool::Tally::default();
    let limit = Duration::from_secs(options.watchdog);
    pool::in_order(
        &work,
        // A child that hangs uses no core, and many are here to hang.
        2 * pool::cores(),
        |run| run.name(),
        |run| run.line(limit),
        |line| {
            let line = line?;
            tally.count(line.ok);
            show(&line, options)
        },
    )?;
    tally.end(
        "faults",
        "run(s) did not end as lesson.toml says; look at the lines above",
        options.json,
    )
}

/// `stress` of each lesson's faults.py, on the free-threaded build.
fn stress(lessons: &[&Lesson], seconds: u64, options: &Options) -> Result<()> {
    let ready = extension::ready(&[Build::parse("3.14t")?])?.remove(0);
    let twin = twin::build(&ready, None)?;
    let script = |one: &Lesson| paths::root().join("crates").join(&one.name).join("faults.py");
    let has = |one: &&&Lesson| {
        std::fs::read_to_string(script(one)).is_ok_and(|text| text.contains("\ndef stress("))
    };
    let work: Vec<&Lesson> = lessons.iter().filter(has).copied().collect();
    if work.is_empty() {
        bail!("no lesson asked for has a stress() in its faults.py");
    }
    let mut failed = 0;
    pool::in_order(
        &work,
        pool::cores(),
        |lesson| lesson.name.clone(),
        |lesson| {
            let mut command = ready.env.command();
            command.arg(runner()).arg(script(lesson)).arg("stress");
            command.env("PYTHONPATH", &twin).env("UNGIL_STRESS_SECONDS", seconds.to_string());
            let observed = observe(&mut command, Duration::from_secs(seconds + 120));
            observed.map(|observed| (lesson.name.clone(), observed))
        },
        |told| {
            let (name, observed) = told?;
            let ok = observed.outcome == Outcome::Ok;
            failed += usize::from(!ok);
            if options.json {
                let line = serde_json::json!({
                    "lesson": name, "state": "after", "variant": "stress", "build": "3.14t",
                    "expected": "ok", "observed": word(observed.outcome), "seconds": seconds,
                    "text": observed.text, "ok": ok,
                });
                println!("{line}");
            } else {
                let mark = if ok { "ok  " } else { "FAIL" };
                println!(
                    "{mark} 3.14t  after  {name:<20} {seconds} s of stress  {}",
                    observed.text
                );
            }
            Ok(())
        },
    )?;
    if failed > 0 {
        bail!("{failed} lesson(s) did not stand {seconds} s of stress");
    }
    Ok(())
}

/// One child that is to be run.
#[derive(Clone, Copy)]
struct Run<'a> {
    lesson: &'a Lesson,
    fault: &'a Fault,
    ready: &'a Ready,
    twin: &'a Path,
}

impl<'a> Run<'a> {
    fn build(&self) -> String {
        self.ready.interpreter.build.name()
    }

    fn name(&self) -> String {
        format!("{} {} {}", self.lesson.name, self.fault.variant, self.build())
    }

    fn line(&self, limit: Duration) -> Result<Line<'a>> {
        let Self { lesson, fault, .. } = *self;
        let build = self.build();
        let Some(expected) = fault.expect.get(&build) else {
            bail!("{}: {} does not say what happens on {build}", lesson.name, fault.variant);
        };
        let script = paths::root().join("crates").join(&lesson.name).join("faults.py");
        let mut command = self.ready.env.command();
        command.arg(runner()).arg(script).arg(&fault.variant).env("PYTHONPATH", self.twin);
        command.env("UNGIL_DATA", paths::local("data"));
        let limit = fault.within.map_or(limit, Duration::from_secs);
        let observed = observe(&mut command, limit)?;
        Ok(Line {
            lesson: &lesson.name,
            state: fault.state,
            variant: &fault.variant,
            build,
            expected: expected.outcome,
            observed: observed.outcome,
            reason: &fault.reason,
            ok: agrees(&observed, expected)?,
            text: observed.text,
            pattern: &expected.matches,
        })
    }
}

fn show(line: &Line, options: &Options) -> Result<()> {
    if options.json {
        println!("{}", serde_json::to_string(line)?);
        return Ok(());
    }
    let mark = if line.ok { "ok  " } else { "FAIL" };
    let state = if line.state == State::Before { "before" } else { "after" };
    println!(
        "{mark} {:<6} {state:<7}{:<20} {:<32} {}",
        line.build,
        line.lesson,
        line.variant,
        word(line.observed)
    );
    if !line.ok {
        println!("     expected {} {:?}", word(line.expected), line.pattern);
        println!("     observed {}", line.text.replace('\n', "\n     "));
    }
    Ok(())
}

pub fn runner() -> std::path::PathBuf {
    paths::root().join("crates/ungil/python/ungil/_faults.py")
}

fn word(outcome: Outcome) -> String {
    // The serialised form is the one that lesson.toml uses.
    serde_json::to_string(&outcome).unwrap_or_default().trim_matches('"').to_owned()
}

fn agrees(observed: &Observed, expected: &Expected) -> Result<bool> {
    let pattern = Regex::new(&expected.matches)?;
    Ok(observed.outcome == expected.outcome && pattern.is_match(&observed.text))
}

/// Runs a child to its end or to the watchdog's, and says how it ended.
pub fn observe(command: &mut Command, limit: Duration) -> Result<Observed> {
    let mut child =
        match command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() {
            Ok(child) => child,
            Err(error) => {
                return Ok(Observed { outcome: Outcome::CouldNotRun, text: error.to_string() });
            }
        };
    let stdout = reader(child.stdout.take());
    let stderr = reader(child.stderr.take());
    let status = child.wait_timeout(limit)?;
    if status.is_none() {
        // Python's stacks, by faulthandler in the child; then what the kernel knows of each thread.
        if let Some(pid) = Pid::from_raw(child.id() as i32) {
            let _ = kill_process(pid, Signal::USR1);
            std::thread::sleep(Duration::from_millis(500));
        }
        let threads = threads_of(child.id());
        child.kill()?;
        child.wait()?;
        let stacks = stderr.join().unwrap_or_default();
        let text = format!("no end within {} s\n{threads}{stacks}", limit.as_secs());
        return Ok(Observed { outcome: Outcome::Hang, text });
    }
    let (stdout, stderr) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
    Ok(classify(status.unwrap_or_default(), &stdout, &stderr))
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

pub fn classify(status: ExitStatus, stdout: &str, stderr: &str) -> Observed {
    if let Some(signal) = status.signal() {
        let text = format!("signal {signal}\n{stderr}");
        return Observed { outcome: Outcome::Signal, text };
    }
    #[derive(serde::Deserialize)]
    struct Said {
        outcome: Outcome,
        text: String,
    }
    let said = stdout.lines().rev().find_map(|line| serde_json::from_str::<Said>(line).ok());
    match said {
        // A result and then a bad exit: something broke while the interpreter was torn down.
        Some(said) if !status.success() => Observed {
            outcome: Outcome::Exception,
            text: format!("{status} after {}: {}\n{stderr}", word(said.outcome), said.text),
        },
        Some(said) => Observed { outcome: said.outcome, text: said.text },
        None => Observed {
            outcome: Outcome::CouldNotRun,
            text: format!("no result ({status})\n{stderr}"),
        },
    }
}

/// A line for each thread: its name, whether it runs or sleeps, and where in the kernel.
fn threads_of(pid: u32) -> String {
    let mut lines = Vec::new();
    let tasks = std::fs::read_dir(Path::new("/proc").join(pid.to_string()).join("task"));
    for task in tasks.into_iter().flatten().flatten() {
        let read = |name: &str| std::fs::read_to_string(task.path().join(name)).unwrap_or_default();
        let stat = read("stat");
        let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
        lines.push(format!(
            "thread {} {:?} state {} in {}\n",
            task.file_name().to_string_lossy(),
            read("comm").trim(),
            state.unwrap_or("?"),
            read("wchan").trim()
        ));
    }
    lines.sort();
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a variant of a script that is written here, with whatever Python 3 there is: the runner
    /// itself needs nothing of the extension.
    fn observe_script(script: &str, limit: Duration) -> Observed {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("script.py");
        std::fs::write(&file, script).unwrap();
        let mut command = Command::new("python3");
        observe(command.arg(runner()).arg(file).arg("variant"), limit).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn each_way_to_end_is_told_from_the_others() {
        for (body, outcome, text) in [
            ("return None", Outcome::Ok, ""),
            ("return 3, 3", Outcome::Ok, ""),
            ("return 'a', 'b'", Outcome::WrongAnswer, "got 'a', expected 'b'"),
            ("raise KeyError('k')", Outcome::Exception, "KeyError: 'k'"),
            ("raise SystemExit(0)", Outcome::Exception, "SystemExit: 0"),
            ("import absent", Outcome::CouldNotRun, "No module named 'absent'"),
            ("import os; os._exit(0)", Outcome::CouldNotRun, "no result"),
            ("import os; os.kill(os.getpid(), 11)", Outcome::Signal, "signal 11"),
            ("import os; os.abort()", Outcome::Signal, "signal 6"),
        ] {
            let script = format!("def variant():\n    {body}\n");
            let observed = observe_script(&script, LONG);
            assert_eq!(observed.outcome, outcome, "{body}: {observed:?}");
            assert!(observed.text.contains(text), "{body}: {observed:?}");
        }
    }

    #[test]
    fn a_bad_exit_after_a_good_result_is_not_a_pass() {
        let script = "import atexit, os\ndef variant():\n    atexit.register(os._exit, 4)\n";
        let observed = observe_script(script, LONG);
        assert_eq!(observed.outcome, Outcome::Exception);
        assert!(observed.text.contains("after ok"), "{observed:?}");
    }

    #[test]
    fn a_hang_is_ended_and_shows_every_thread() {
        let script = "import threading\n\
            def waits_for_ever():\n    threading.Event().wait()\n\
            def variant():\n    threading.Thread(target=waits_for_ever).start()\n    \
            threading.Lock().__enter__()\n    lock = threading.Lock(); lock.acquire(); lock.acquire()\n";
        let observed = observe_script(script, Duration::from_secs(3));
        assert_eq!(observed.outcome, Outcome::Hang);
        for part in ["in variant", "in waits_for_ever", "state S in "] {
            assert!(observed.text.contains(part), "no {part:?} in {}", observed.text);
        }
    }

    #[test]
    fn the_gil_coming_on_is_seen_whatever_else_happened() {
        let script = "import sys\n\
            state = [False, True]\n\
            sys._is_gil_enabled = lambda: state.pop(0)\n\
            def variant():\n    return 1, 2\n";
        // The runner asks before it loads the script; so the script's answers serve both times only
        // if the function is in place first.
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("sitecustomize.py"), &script[..script.find("def").unwrap()])
            .unwrap();
        let file = dir.path().join("script.py");
        std::fs::write(&file, "def variant():\n    return 1, 2\n").unwrap();
        let mut command = Command::new("python3");
        command.env("PYTHONPATH", dir.path());
        let observed = observe(command.arg(runner()).arg(file).arg("variant"), LONG).unwrap();
        assert_eq!(observed.outcome, Outcome::GilTurnedOn, "{observed:?}");
        assert!(observed.text.contains("wrong-answer got 1, expected 2"), "{observed:?}");
    }

    #[test]
    fn a_run_that_fails_in_another_way_does_not_agree() {
        let expected = |outcome, matches: &str| Expected { outcome, matches: matches.into() };
        let observed = Observed { outcome: Outcome::Exception, text: "IndexError: 1".into() };
        assert!(agrees(&observed, &expected(Outcome::Exception, "IndexError")).unwrap());
        assert!(!agrees(&observed, &expected(Outcome::Exception, "KeyError")).unwrap());
        assert!(!agrees(&observed, &expected(Outcome::Hang, "IndexError")).unwrap());
    }
}
