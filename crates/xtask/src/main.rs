//! `cargo xtask <word>`: everything that runs the rest. `just <word>` is the same.

mod bench;
mod book;
mod copies;
mod cpp;
mod data;
mod extension;
mod faults;
mod hash;
mod model;
mod paths;
mod pool;
mod python;
mod readme;
mod sh;
mod test;
mod twin;

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
        Word::Fmt => test::format(),
    }
}
