//! Confirms by importing: a child process a round, with `PYTHON_GIL` unset, under a time limit.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use wait_timeout::ChildExt;

use crate::tags::Build;

const SCRIPT: &str = include_str!("probe.py");
const LIMIT: Duration = Duration::from_secs(120);
/// Modules of one distribution that turn the GIL on, each of which needs a child of its own.
const MOST_ROUNDS: usize = 12;

/// What importing one module came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "import", rename_all = "kebab-case")]
pub enum Import {
    /// The GIL was off before and after.
    StaysOff,
    /// This extension turned it on.
    TurnsOn { chain: Vec<String> },
    /// It failed, killed the child, or imported another that turns the GIL on. Its file alone was
    /// then loaded, which is when CPython decides; `turns_on` is what that came to.
    Failed { error: String, turns_on: Option<bool> },
}

#[derive(Deserialize)]
struct Line {
    module: String,
    before: bool,
    after: bool,
    error: Option<String>,
    culprit: Option<Culprit>,
}

#[derive(Clone, Deserialize)]
struct Culprit {
    module: String,
    chain: Vec<String>,
}

/// An interpreter that can answer.
pub struct Probe {
    python: PathBuf,
    pub build: Build,
}

impl Probe {
    /// Asks the interpreter which build it is, and whether its GIL is off as long as nothing has
    /// been imported.
    pub fn new(python: &Path) -> Result<Self> {
        let ask = "import sys, sysconfig; print(sys.version_info[1], \
                   int(bool(sysconfig.get_config_var('Py_GIL_DISABLED'))), \
                   int(getattr(sys, '_is_gil_enabled', lambda: True)()))";
        let out = command(python)
            .args(["-c", ask])
            .output()
            .with_context(|| format!("{} does not run", python.display()))?;
        let text = String::from_utf8_lossy(&out.stdout);
        let numbers: Vec<u32> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        let [minor, free_threaded, enabled] = numbers.as_slice() else {
            bail!("{} did not say which build it is", python.display());
        };
        let build = Build { minor: *minor, free_threaded: *free_threaded == 1 };
        if build.free_threaded && *enabled == 1 {
            bail!("the GIL of {} is on before anything is imported", python.display());
        }
        Ok(Self { python: python.to_owned(), build })
    }

    /// Imports each of `modules`, a name and its file, in as many children as it takes.
    pub fn import(&self, modules: &[(String, PathBuf)]) -> Result<BTreeMap<String, Import>> {
        let mut out: BTreeMap<String, Import> = BTreeMap::new();
        for _ in 0..MOST_ROUNDS {
            let left: Vec<(&str, Option<&Path>)> = modules
                .iter()
                .filter(|(name, _)| !out.contains_key(name))
                .map(|(name, _)| (name.as_str(), None))
                .collect();
            if left.is_empty() {
                break;
            }
            let (lines, ended) = self.round(&left)?;
            for line in &lines {
                match &line.culprit {
                    Some(culprit) if line.after => {
                        out.insert(
                            culprit.module.clone(),
                            Import::TurnsOn { chain: culprit.chain.clone() },
                        );
                        // What pulled it in cannot be judged apart from it.
                        if culprit.module != line.module {
                            let error = format!("imports {}, which turns it on", culprit.module);
                            let failed = Import::Failed { error, turns_on: None };
                            out.insert(line.module.clone(), failed);
                        }
                    }
                    _ => {
                        let import = match (&line.error, line.before, line.after) {
                            (Some(error), ..) => {
                                Import::Failed { error: error.clone(), turns_on: None }
                            }
                            (None, false, false) => Import::StaysOff,
                            _ => Import::Failed {
                                error: "the GIL was on already".into(),
                                turns_on: None,
                            },
                        };
                        out.insert(line.module.clone(), import);
                    }
                }
            }
            let next = left.get(lines.len()).map(|(name, _)| (*name).to_owned());
            if let (Some(error), Some(module)) = (ended, next) {
                out.insert(module, Import::Failed { error, turns_on: None });
            } else if lines.is_empty() {
                bail!("the child that imports said nothing");
            }
        }
        for (name, path) in modules {
            if let Some(Import::Failed { turns_on, .. }) = out.get_mut(name) {
                // A file that cannot be loaded alone stays unknown.
                let (lines, _) = self.round(&[(name, Some(path))])?;
                *turns_on = lines
                    .first()
                    .filter(|line| line.error.is_none() || line.after)
                    .map(|line| line.after);
            }
        }
        Ok(out)
    }

    /// The lines of one child, and how it ended if not by itself.
    fn round(&self, modules: &[(&str, Option<&Path>)]) -> Result<(Vec<Line>, Option<String>)> {
        let mut child = command(&self.python)
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut stdin = child.stdin.take().context("a pipe was asked for")?;
        let mut stdout = child.stdout.take().context("a pipe was asked for")?;
        let names = serde_json::to_string(modules)?;
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            // A child that is killed leaves what it wrote.
            let _ = stdout.read_to_string(&mut text);
            text
        });
        // A child that ended before it read them says so by its status.
        let _ = stdin.write_all(names.as_bytes());
        drop(stdin);
        let status = child.wait_timeout(LIMIT)?;
        let ended = match status {
            Some(status) if status.success() => None,
            Some(status) => Some(format!("the process that imported it ended: {status}")),
            None => {
                child.kill()?;
                child.wait()?;
                Some(format!("not imported within {} s", LIMIT.as_secs()))
            }
        };
        let text = reader.join().unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok((lines, ended))
    }
}

fn command(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.env_remove("PYTHON_GIL").env_remove("PYTHONWARNINGS").env_remove("PYTHONSTARTUP");
    command
}
