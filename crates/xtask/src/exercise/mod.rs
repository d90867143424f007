//! `cargo xtask exercise`: the workshop.

mod carets;
mod check;
mod make;
pub mod matrix;
mod show;
mod source;
mod text;
mod workshop;

use anyhow::Result;
use clap::{Args, Subcommand};

use self::workshop::Workshop;
use crate::extension::{self, Ready};
use crate::paths;
use crate::python::Build;

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
    /// Back to the starter; your files are kept beside it
    Reset { name: Option<String> },
    /// For those who write exercises: solution, starter and wrong answers, each held to its text
    Matrix { name: Option<String> },
}

pub fn run(options: &Options) -> Result<()> {
    let open = || Workshop::open(paths::root().join("workshop"));
    match &options.word {
        Word::List { json } => open()?.list(*json),
        Word::Start { name } => open()?.start(name),
        Word::Check { name, json } => open()?.check(name.as_deref(), *json),
        Word::Watch { name } => open()?.watch(name.as_deref()),
        Word::Hint { name } => open()?.hint(name.as_deref()),
        Word::Solution { name } => open()?.solution(name.as_deref()),
        Word::Reset { name } => open()?.reset(name.as_deref()),
        Word::Matrix { name } => matrix::run(name.as_deref()),
    }
}

/// Interpreter and environment for each build; the first time takes a minute or two.
fn places() -> Result<Vec<Ready>> {
    Build::BOTH.into_iter().map(extension::prepare).collect()
}
