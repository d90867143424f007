//! `cargo xtask <word>`: everything that runs the rest. `just <word>` is the same.

mod bench;
mod book;
mod copies;
mod copy;
mod cpp;
mod data;
mod exercise;
mod extension;
mod faults;
mod hash;
mod house;
mod model;
mod paths;
mod pool;
mod python;
mod readme;
mod sh;
mod test;
mod truth;
mod twin;
mod wheels;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Runs the lessons of ungil", max_term_width = 80)]
struct Cli {
    #[command(subcommand)]
    word: Word,
}

#[derive(Subcommand)]
enum Word {
    /// Measure the lessons on this machine
    Bench(bench::Options),
    /// Run every check and say at the end what passed, failed and was not run
    Test(test::Options),
    /// Run each variant in a fresh interpreter and see it end as its lesson says
    Faults(faults::Options),
    /// Check the lessons' protocols in the modelled interpreter
    Model(model::Options),
    /// Run the C++ twins under ThreadSanitizer: each before is reported, each after is silent
    Tsan(twin::Options),
    /// Build the book and check its links
    Book {
        /// Only write the measured table of README.md
        #[arg(long)]
        readme: bool,
    },
    /// Find or fetch the interpreters, build the extension for each, say which they are
    Python {
        /// Builds to prepare, for example 3.15t
        #[arg(default_values_t = ["3.14".to_owned(), "3.14t".to_owned()])]
        builds: Vec<String>,
    },
    /// Copy a pattern into your own crate, or say whether a copy is behind
    Copy(copy::Options),
    /// The workshop: start an exercise, check your work, get a hint
    Exercise(exercise::Options),
    /// Say whether an environment would run without the GIL, and who would turn it on
    #[command(disable_help_flag = true)]
    Doctor {
        /// The words of `ungil-doctor`; `--help` lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Hold the doctor's verdicts against real imports of real distributions
    Truth(truth::Options),
    /// Build the template for each kind of build and see what takes which file
    Wheels(wheels::Options),
    /// Format the Rust and the C++
    Fmt,
}

fn main() -> ExitCode {
    match run(Cli::parse().word) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The chain of causes says what to do; a backtrace of this program would not.
            eprintln!("error: {error}");
            for cause in error.chain().skip(1) {
                eprintln!("  because: {cause}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run(word: Word) -> Result<()> {
    match word {
        Word::Bench(options) => bench::run(&options),
        Word::Test(options) => test::run(&options),
        Word::Faults(options) => faults::run(&options),
        Word::Model(options) => model::run(&options),
        Word::Tsan(options) => twin::tsan(&options),
        Word::Book { readme: true } => readme::table(false),
        Word::Book { readme: false } => book::build().map(drop),
        Word::Python { builds } => test::python(&builds),
        Word::Copy(options) => copy::run(&options),
        Word::Exercise(options) => exercise::run(&options),
        Word::Doctor { words } => doctor(&words),
        Word::Truth(options) => truth::run(&options),
        Word::Wheels(options) => wheels::run(&options),
        Word::Fmt => test::format(),
    }
}

/// Builds the doctor and becomes it: its exit status is the answer.
fn doctor(words: &[String]) -> Result<()> {
    let status = std::process::Command::new(env!("CARGO"))
        .args(["run", "--release", "--quiet", "-p", "doctor", "--manifest-path"])
        .arg(paths::root().join("Cargo.toml"))
        .arg("--")
        .args(words)
        .status()?;
    std::process::exit(status.code().unwrap_or(3))
}
