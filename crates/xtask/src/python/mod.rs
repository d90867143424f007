//! Interpreters: found, fetched or put together; checked; with a virtual environment for each.
//!
//! The order is that of the book's appendix: an environment variable, PATH, one that uv has, uv's
//! download, and last the assembly from published parts. Which way was taken is always said.

mod assemble;
mod pip;
mod resolve;
#[cfg(test)]
mod tests;
mod venv;
mod verify;

use std::path::PathBuf;

use anyhow::{Result, bail};

pub use pip::download;
pub use resolve::{Machine, resolve};
pub use venv::{Env, environment, lint_environment, tool_environment, uv};
pub use verify::Facts;

/// One build of CPython: a minor version, free-threaded or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Build {
    pub minor: u8,
    pub free_threaded: bool,
}

impl Build {
    /// The pair that every lesson runs on.
    pub const BOTH: [Build; 2] =
        [Build { minor: 14, free_threaded: false }, Build { minor: 14, free_threaded: true }];

    pub fn parse(name: &str) -> Result<Self> {
        let free_threaded = name.ends_with('t');
        match name.trim_end_matches('t') {
            "3.14" => Ok(Self { minor: 14, free_threaded }),
            "3.15" => Ok(Self { minor: 15, free_threaded }),
            _ => bail!("unknown build {name:?}: known are 3.14, 3.14t, 3.15 and 3.15t"),
        }
    }

    /// As people write it: `3.14t`.
    pub fn name(self) -> String {
        format!("3.{}{}", self.minor, self.flag())
    }

    /// `t` or nothing, as in file names.
    pub fn flag(self) -> &'static str {
        if self.free_threaded { "t" } else { "" }
    }

    /// The environment variable that names an interpreter of this build.
    pub fn variable(self) -> String {
        format!("UNGIL_PYTHON_3_{}{}", self.minor, self.flag().to_uppercase())
    }
}

/// An interpreter that was checked.
#[derive(Clone, Debug)]
pub struct Interpreter {
    pub build: Build,
    pub exe: PathBuf,
    /// How it was found, in words.
    pub how: String,
    pub facts: Facts,
}
