//! Running other programs: progress on a terminal, and on failure the whole output and what to do.

use std::io::{IsTerminal, Read};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use wait_timeout::ChildExt;

/// A line that shows that a step is under way; on a terminal it spins, in a log it is printed once.
pub struct Step {
    bar: Option<ProgressBar>,
    what: String,
    since: Instant,
}

impl Step {
    pub fn new(what: impl Into<String>) -> Self {
        let what = what.into();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner().with_message(what.clone());
            bar.set_style(
                ProgressStyle::with_template("{spinner} {msg} {elapsed:.dim}")
                    .expect("the template is a constant"),
            );
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        if bar.is_none() {
            eprintln!("   {what} ...");
        }
        Self { bar, what, since: Instant::now() }
    }

    pub fn done(self) {
        let seconds = self.since.elapsed().as_secs_f32();
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        eprintln!("   {} ({seconds:.1} s)", self.what);
    }
}

/// The command as a person would type it.
pub fn line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|a| a.to_string_lossy().into_owned()));
    words.join(" ")
}

/// Runs to the end, silently; an error carries the command, its exit and its output.
pub fn run(command: &mut Command) -> Result<Output> {
    let shown = line(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("could not start `{shown}`; is it installed?"))?;
    if !output.status.success() {
        bail!(
            "`{shown}` ended with {}\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(output)
}

/// Like [`run`], with a limit on its time: on expiry the child is killed by its own handle.
pub fn run_within(command: &mut Command, limit: Duration) -> Result<Output> {
    let output = output_within(command, limit)?;
    if !output.status.success() {
        bail!(
            "`{}` ended with {}\n{}{}",
            line(command),
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(output)
}

/// Runs to the end or to the limit, however it ends.
pub fn output_within(command: &mut Command, limit: Duration) -> Result<Output> {
    let shown = line(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start `{shown}`; is it installed?"))?;
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    // Read while it runs: a full pipe would otherwise look like a child that hangs.
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        err.as_mut().map(|e| e.read_to_end(&mut bytes));
        bytes
    });
    let out_reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        out.as_mut().map(|o| o.read_to_end(&mut bytes));
        bytes
    });
    let status = match child.wait_timeout(limit)? {
        Some(status) => status,
        None => {
            child.kill()?;
            child.wait()?;
            bail!("`{shown}` did not end within {} s and was stopped", limit.as_secs());
        }
    };
    let (stdout, stderr) = (
        out_reader.join().expect("the reader does not panic"),
        reader.join().expect("the reader does not panic"),
    );
    Ok(Output { status, stdout, stderr })
}

/// Runs with its output shown as it comes (for test runners and compilers).
pub fn show(command: &mut Command) -> Result<()> {
    let shown = line(command);
    eprintln!(" $ {shown}");
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("could not start `{shown}`; is it installed?"))?;
    if !status.success() {
        bail!("`{shown}` ended with {status}");
    }
    Ok(())
}
