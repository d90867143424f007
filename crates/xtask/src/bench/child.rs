//! A measured process: asked one line at a time, watched for its memory, ended by its own handle.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child as Process, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use lesson_kit::protocol::{Ask, Listing, Measured};

/// One measurement of the slowest case takes seconds; a process that needs this long hangs.
const LIMIT: Duration = Duration::from_secs(300);

pub struct Child {
    /// `3.14t`, or the peer's name.
    pub label: String,
    pub listing: Listing,
    process: Process,
    stdin: ChildStdin,
    answers: Receiver<String>,
    log: PathBuf,
}

impl Child {
    /// Starts `command`; what it says besides its answers goes to `log`.
    pub fn start(label: &str, command: &mut Command, log: PathBuf) -> Result<Self> {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(&log)?)
            .spawn()
            .with_context(|| format!("could not start the process for {label}"))?;
        let (Some(stdin), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            bail!("the process for {label} has no pipes");
        };
        let listing = Listing {
            cases: vec![],
            environment: lesson_kit::protocol::Environment {
                python: String::new(),
                free_threaded: false,
                constants_immortal: false,
                packages: vec![],
            },
        };
        let answers = lines(stdout);
        let mut child = Self { label: label.into(), listing, process, stdin, answers, log };
        child.listing = serde_json::from_str(&child.ask(&Ask::List)?)?;
        Ok(child)
    }

    fn ask(&mut self, ask: &Ask) -> Result<String> {
        let question = serde_json::to_string(ask)?;
        // A process that is gone shows in the answer, with its log.
        let _ = writeln!(self.stdin, "{question}");
        match self.answers.recv_timeout(LIMIT) {
            Ok(line) => Ok(line),
            Err(_) => {
                let _ = self.process.kill();
                let status = self.process.wait()?;
                let log = std::fs::read_to_string(&self.log).unwrap_or_default();
                let tail: Vec<&str> = log.lines().rev().take(12).collect();
                let tail: Vec<&str> = tail.into_iter().rev().collect();
                bail!(
                    "the measured process {} gave no answer ({status}); its log ends with:\n{}",
                    self.label,
                    tail.join("\n")
                )
            }
        }
    }

    /// Measures one case; also gives the peak PSS of the process and its children, in bytes.
    pub fn measure(&mut self, ask: &Ask) -> Result<(Measured, u64)> {
        let watch = PssWatch::start(self.process.id());
        let answer = self.ask(ask);
        let peak = watch.stop();
        Ok((serde_json::from_str(&answer?)?, peak))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It waits for a question: nothing is lost. An error means that it is gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn lines(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Looks at the proportional set size of a process tree every 50 ms: shared pages are counted once,
/// which a sum of RSS would not do.
struct PssWatch {
    stop: Arc<AtomicBool>,
    peak: Arc<AtomicU64>,
    thread: std::thread::JoinHandle<()>,
}

impl PssWatch {
    fn start(root: u32) -> Self {
        let (stop, peak) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopped, highest) = (stop.clone(), peak.clone());
        let thread = std::thread::spawn(move || {
            // Relaxed: the join in `stop` orders the last value.
            while !stopped.load(Ordering::Relaxed) {
                highest.fetch_max(tree_pss(root), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        Self { stop, peak, thread }
    }

    fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.join();
        self.peak.load(Ordering::Relaxed)
    }
}

fn tree_pss(root: u32) -> u64 {
    let own = std::fs::read_to_string(format!("/proc/{root}/smaps_rollup"))
        .ok()
        .and_then(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?.trim().to_owned();
            line.strip_suffix(" kB")?.trim().parse::<u64>().ok()
        })
        .unwrap_or(0)
        * 1024;
    let mut below = 0;
    if let Ok(tasks) = std::fs::read_dir(format!("/proc/{root}/task")) {
        for task in tasks.flatten() {
            let children =
                std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            below += children
                .split_whitespace()
                .filter_map(|p| p.parse().ok())
                .map(tree_pss)
                .sum::<u64>();
        }
    }
    own + below
}
