//! The command line of `ungil-doctor` and of `python -m ungil.doctor`.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use clap::Parser;

use crate::report::{sarif, tree};
use crate::scan::{self, Question};
use crate::tags::Build;

/// Says whether an environment would run without the GIL, and who would turn it on.
///
/// Exit status: 0 the GIL stays off, 1 it would run with the GIL, 2 wrong usage, 3 could not check.
#[derive(Parser)]
#[command(name = "ungil-doctor", version, max_term_width = 80)]
struct Arguments {
    /// A venv, an interpreter, a wheel, a folder of wheels, an extension file, a requirements or
    /// lock file; without one, the active environment
    target: Option<PathBuf>,
    /// The free-threaded build that the answer is for [default: the environment's, or 3.14t]
    #[arg(long)]
    build: Option<Build>,
    /// Also tell which of these builds load each file
    #[arg(long, value_delimiter = ',', default_value = "3.14,3.14t,3.15,3.15t")]
    builds: Vec<Build>,
    /// Read the files and import nothing
    #[arg(long = "static")]
    read_only: bool,
    /// Import with this interpreter
    #[arg(long)]
    python: Option<PathBuf>,
    /// List what is clean too
    #[arg(long, short)]
    all: bool,
    /// The whole report as JSON
    #[arg(long, conflicts_with = "sarif")]
    json: bool,
    /// The faults as SARIF 2.1.0
    #[arg(long)]
    sarif: bool,
}

/// Runs the command; gives its exit status. `arguments` begins with the program's name.
///
/// Thread-safety: internally synchronised; it starts threads and child processes of its own, and
/// waits for them: call it detached.
pub fn main(arguments: impl IntoIterator<Item = OsString>, out: &mut impl Write) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are no errors; they go where they are looked for.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    match answer(&arguments, out) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("ungil-doctor: {error:#}");
            3
        }
    }
}

fn answer(arguments: &Arguments, out: &mut impl Write) -> anyhow::Result<u8> {
    let target = match &arguments.target {
        Some(target) => target.clone(),
        None => scan::here()?,
    };
    if !target.exists() {
        eprintln!("ungil-doctor: {} does not exist", target.display());
        return Ok(2);
    }
    let own = crate::source::environment(&target).ok().map(|one| one.build);
    let build = arguments
        .build
        .or(own.filter(|build| build.free_threaded))
        .unwrap_or(Build { minor: 14, free_threaded: true });
    if !build.free_threaded {
        eprintln!("ungil-doctor: --build {build}: that build always has the GIL; give 3.14t");
        return Ok(2);
    }
    let report = scan::scan(&Question {
        target,
        build,
        builds: arguments.builds.clone(),
        read_only: arguments.read_only,
        python: arguments.python.clone(),
    })?;
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&report)?)?;
    } else if arguments.sarif {
        writeln!(out, "{}", serde_json::to_string_pretty(&sarif::render(&report))?)?;
    } else {
        write!(out, "{}", tree::render(&report, arguments.all))?;
    }
    Ok(report.exit_code())
}
