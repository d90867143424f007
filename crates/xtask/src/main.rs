//! `cargo xtask <word>`: everything that runs the rest. `just <word>` is the same.

mod extension;
mod bench;
mod data;
mod faults;
mod hash;
mod paths;
mod python;
mod sh;

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
    /// Run each variant in a fresh interpreter and see it end as its lesson says
    Faults(faults::Options),
    /// Find or fetch the interpreters, and say which they are
    Python {
        /// Builds to prepare, for example 3.15t
        #[arg(default_values_t = ["3.14".to_owned(), "3.14t".to_owned()])]
        builds: Vec<String>,
    },
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
        Word::Bench(options) => bench::run(&options)?,
        Word::Faults(options) => faults::run(&options)?,
        Word::Python { builds } => {
            for name in builds {
                let build = python::Build::parse(&name)?;
                let ready = extension::ready(&[build])?;
                let (found, env) = (&ready[0].interpreter, &ready[0].env);
                data::flights(env)?;
                println!(
                    "{:6} {:8} {}\n       {}\n       environment {}",
                    name,
                    found.facts.version,
                    found.how,
                    paths::shown(&found.exe),
                    paths::shown(&env.dir)
                );
            }
        }
    }
    Ok(())
}
