//! `cargo xtask test`: every check, lane by lane; ends with what passed, failed and was not run.

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;

use crate::extension::{self, Ready};
use crate::python::{self, Build};
use crate::{
    bench, book, copies, cpp, exercise, faults, model, paths, readme, sh, truth, twin, wheels,
};

#[derive(Args)]
pub struct Options {
    /// Only the lanes whose name contains one of these
    lanes: Vec<String>,
}

type Lane<'a> = (&'static str, Box<dyn Fn() -> Result<()> + 'a>);

pub fn run(options: &Options) -> Result<()> {
    let ready = extension::ready(&Build::BOTH)?;
    let [stock, free] = &ready[..] else { bail!("two builds were asked for") };
    let lanes: Vec<Lane> = vec![
        ("rustfmt", Box::new(|| cargo(&["fmt", "--all", "--check"]))),
        ("clang-format", Box::new(|| cpp::format(false))),
        ("clippy", Box::new(|| clippy(stock))),
        ("rust tests", Box::new(rust_tests)),
        ("C++ engine, address and undefined", Box::new(|| cpp::sanitized("address,undefined"))),
        ("C++ engine, thread", Box::new(|| cpp::sanitized("thread"))),
        ("pytest 3.14", Box::new(|| pytest_with_polars(stock))),
        ("pytest 3.14t", Box::new(|| pytest(free, &[]))),
        ("pytest 3.14t, in parallel", Box::new(|| pytest(free, &["--parallel-threads=4"]))),
        ("models", Box::new(|| model::run(&model::Options::all()))),
        ("models' own tests", Box::new(model::own_tests)),
        ("tsan, C++ twins", Box::new(|| twin::tsan(&twin::Options::all()))),
        ("faults", Box::new(|| faults::run(&faults::Options::all()))),
        ("stress, short", Box::new(|| faults::run(&faults::Options::short_stress()))),
        ("copies", Box::new(|| copies::run(&ready))),
        ("exercises", Box::new(|| exercise::matrix::run(None))),
        ("refused code", Box::new(|| refused(stock))),
        ("doctor's truth", Box::new(|| truth::run(&truth::Options::default()))),
        ("template's workflow", Box::new(workflow)),
        ("wheels", Box::new(|| wheels::run(&wheels::Options::all()))),
        ("bench harness", Box::new(bench::smoke)),
        ("book", Box::new(|| readme::table(true).and(book::build().map(drop)))),
    ];
    let wanted = |name: &str| {
        options.lanes.is_empty() || options.lanes.iter().any(|part| name.contains(part))
    };
    let (mut failed, mut passed, mut skipped) = (Vec::new(), 0, Vec::new());
    for (name, work) in &lanes {
        if !wanted(name) {
            skipped.push(*name);
            continue;
        }
        println!("\n== {name}");
        let start = Instant::now();
        let seconds = || start.elapsed().as_secs_f32();
        match work() {
            Ok(()) => {
                passed += 1;
                println!("== {name}: passed ({:.1} s)", seconds());
            }
            Err(error) => {
                println!("{error:#}");
                println!("== {name}: FAILED ({:.1} s)", seconds());
                failed.push(*name);
            }
        }
    }
    println!("\nran on:");
    for one in &ready {
        let facts = &one.interpreter.facts;
        println!(
            "  {:6} {} ({})",
            one.interpreter.build.name(),
            facts.version,
            one.interpreter.how
        );
    }
    if !skipped.is_empty() {
        println!("not run, since it was not asked for: {}", skipped.join(", "));
    }
    println!("only the wheels ran on 3.15 and 3.15t: `cargo xtask python 3.15t` prepares the rest");
    println!("\nlanes: {passed} passed, {} failed, {} skipped", failed.len(), skipped.len());
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

fn cargo(words: &[&str]) -> Result<()> {
    sh::show(Command::new(env!("CARGO")).current_dir(paths::root()).args(words))
}

/// Formats everything that the formatter lanes check.
pub fn format() -> Result<()> {
    cargo(&["fmt", "--all"])?;
    cpp::format(true)
}

fn clippy(ready: &Ready) -> Result<()> {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(paths::root()).args([
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]);
    extension::environment_for(&mut command, &ready.env, "clippy");
    sh::show(&mut command)
}

/// Code that the compiler must refuse, with its messages (trybuild).
fn refused(ready: &Ready) -> Result<()> {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(paths::root()).args([
        "test",
        "--quiet",
        "-p",
        "eager-init",
        "--test",
        "refused",
    ]);
    extension::environment_for(&mut command, &ready.env, "clippy");
    sh::show(&mut command)
}

fn rust_tests() -> Result<()> {
    cargo(&["test", "--quiet", "-p", "xtask", "-p", "lesson-kit", "-p", "engine", "-p", "doctor"])
}

/// The workflow that people start from, by the checkers that they would use.
fn workflow() -> Result<()> {
    let tools = python::lint_environment()?;
    let file = paths::root().join("examples/extension-template/.github/workflows/ci.yml");
    sh::show(Command::new(tools.program("actionlint")).arg("-no-color").arg(&file))?;
    sh::show(Command::new(tools.program("zizmor")).args(["--offline", "--no-progress"]).arg(&file))
}

/// On the build that polars is for, with the packages of its environment behind our own.
fn pytest_with_polars(ready: &Ready) -> Result<()> {
    let env = python::environment(&ready.interpreter, "peer-polars")?;
    let ask = "import sysconfig; print(sysconfig.get_path('purelib'), end='')";
    let place = sh::run(env.command().args(["-c", ask]))?;
    let place = String::from_utf8_lossy(&place.stdout).into_owned();
    let mut command = ready.env.command();
    command.env("UNGIL_POLARS", place);
    run_pytest(&mut command, &[])
}

fn pytest(ready: &Ready, words: &[&str]) -> Result<()> {
    run_pytest(&mut ready.env.command(), words)
}

fn run_pytest(command: &mut Command, words: &[&str]) -> Result<()> {
    command
        .current_dir(paths::root())
        .args(["-m", "pytest", "-q", "-rs", "-W", "error", "--timeout", "300"])
        .args(["-p", "no:cacheprovider"])
        // Its folder of examples would lie in the checkout.
        .env("HYPOTHESIS_STORAGE_DIRECTORY", paths::local("hypothesis"))
        .env("UNGIL_XTASK", std::env::current_exe()?)
        .args(words)
        .arg("tests");
    sh::show(command)
}

/// `cargo xtask python`: prepares builds and says which they are.
pub fn python(builds: &[String]) -> Result<()> {
    for name in builds {
        let build = python::Build::parse(name)?;
        let found = extension::ready(&[build])?.remove(0);
        println!(
            "{:6} {:8} {}\n       {}\n       environment {}",
            name,
            found.interpreter.facts.version,
            found.interpreter.how,
            paths::shown(&found.interpreter.exe),
            paths::shown(&found.env.dir)
        );
    }
    Ok(())
}
