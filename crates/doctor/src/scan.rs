//! From what a user named to a report: find, read, import, judge.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::binary::Declares;
use crate::lock;
use crate::probe::Probe;
use crate::source::{self, Distribution};
use crate::tags::Build;
use crate::verdict::{self, Extension, Judged, Status};

/// What is asked.
pub struct Question {
    /// A venv, an interpreter, a wheel, a folder of wheels, an extension, a requirements or lock file.
    pub target: PathBuf,
    /// The free-threaded build that the answer is for.
    pub build: Build,
    /// The builds whose loading is told.
    pub builds: Vec<Build>,
    /// Imports nothing.
    pub read_only: bool,
    /// Imports with this interpreter.
    pub python: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
pub struct Report {
    pub target: String,
    pub build: Build,
    /// The build that the environment is for, if it is one.
    pub environment: Option<Build>,
    pub imported_with: Option<String>,
    /// Why nothing was imported, if that was wanted.
    pub not_imported: Option<String>,
    /// `PYTHON_GIL` of this process: a run under it shows nothing.
    pub forced: Option<String>,
    pub distributions: Vec<Judged>,
    /// What could not be read at all.
    pub failed: BTreeMap<String, String>,
}

impl Report {
    /// 0 clean, 1 would run with the GIL, 3 could not check.
    pub fn exit_code(&self) -> u8 {
        let worst = self.distributions.iter().map(|one| one.status).max();
        let with_gil = self.environment.is_some_and(|build| !build.free_threaded)
            || matches!(worst, Some(Status::TurnsOn | Status::CannotLoad));
        if with_gil {
            1
        } else if worst == Some(Status::CannotTell) || !self.failed.is_empty() {
            3
        } else {
            0
        }
    }
}

pub fn scan(question: &Question) -> Result<Report> {
    let target = &question.target;
    let mut failed = BTreeMap::new();
    let mut environment = None;
    let mut fetched = None;
    let distributions = if is_wheel(target) {
        vec![source::wheel(target).with_context(|| target.display().to_string())?]
    } else if is_extension(target) {
        vec![source::extension(target)?]
    } else if lock::is(target) {
        let wheels = lock::fetch(target, question.build, &mut failed)?;
        let found = folder_of_wheels(wheels.folder.path(), &mut failed)?;
        fetched = Some(wheels);
        found
    } else if target.is_dir() && has_wheels(target)? {
        folder_of_wheels(target, &mut failed)?
    } else {
        let found = source::environment(target)?;
        let distributions = source::installed(&found.packages)?;
        environment = Some(found);
        distributions
    };
    let mut builds = question.builds.clone();
    builds.push(question.build);
    builds.sort_unstable();
    builds.dedup();
    let mut read = read_all(&distributions, &builds);
    resolve(&mut read, question.build);
    let without = fetched.map_or(Vec::new(), |wheels| wheels.without);
    let python = question.python.clone().or(environment.as_ref().map(|one| one.python.clone()));
    let mut report = Report {
        target: target.display().to_string(),
        build: question.build,
        environment: environment.as_ref().map(|one| one.build),
        imported_with: None,
        not_imported: None,
        forced: std::env::var("PYTHON_GIL").ok(),
        distributions: Vec::new(),
        failed,
    };
    let probe = match (&python, question.read_only, &environment) {
        (_, true, _) => None,
        (Some(python), _, Some(_)) => match probe(python, question.build) {
            Ok(probe) => Some(probe),
            Err(why) => {
                report.not_imported = Some(format!("{why:#}"));
                None
            }
        },
        (Some(_), _, None) => {
            report.not_imported = Some("only an environment is, since imports need others".into());
            None
        }
        _ => None,
    };
    report.imported_with = probe.as_ref().and(python.as_ref()).map(|p| p.display().to_string());
    let bar = bar(distributions.len(), "importing");
    for (one, mut extensions) in distributions.into_iter().zip(read) {
        bar.set_message(one.name.clone());
        if let Some(probe) = &probe {
            confirm(probe, question.build, &mut extensions)?;
        }
        bar.inc(1);
        report.distributions.push(verdict::judge(one, extensions, question.build));
    }
    bar.finish_and_clear();
    report.distributions.extend(without.iter().map(|pin| verdict::no_wheel(pin, question.build)));
    Ok(report)
}

fn probe(python: &Path, build: Build) -> Result<Probe> {
    let probe = Probe::new(python)?;
    if probe.build != build {
        bail!("{} is {}, not {build}", python.display(), probe.build);
    }
    Ok(probe)
}

/// Modules that another extension makes say what that one says, if it is there.
fn resolve(read: &mut [Vec<Extension>], build: Build) {
    let makers: BTreeMap<String, Declares> = read
        .iter()
        .flatten()
        .filter(|one| one.tried_by(build))
        .map(|one| (one.module.clone(), one.declares.clone()))
        .collect();
    for one in read.iter_mut().flatten() {
        if let Declares::Through(maker) = one.declares {
            one.declares = match makers.get(maker) {
                Some(Declares::Free(_)) => Declares::Free("_cffi_backend makes it and declares it"),
                Some(Declares::Gil(_)) => Declares::Gil("_cffi_backend makes it and says nothing"),
                _ => continue,
            };
        }
    }
}

fn confirm(probe: &Probe, build: Build, extensions: &mut [Extension]) -> Result<()> {
    let modules: Vec<(String, PathBuf)> = extensions
        .iter()
        .filter(|one| one.tried_by(build))
        .filter_map(|one| Some((one.module.clone(), one.on_disk.clone()?)))
        .collect();
    if modules.is_empty() {
        return Ok(());
    }
    let mut imported = probe.import(&modules)?;
    for one in extensions.iter_mut().filter(|one| one.tried_by(build)) {
        one.imported = imported.remove(&one.module);
    }
    Ok(())
}

/// Each file once, on every core; the order of the answers is that of the files.
fn read_all(distributions: &[Distribution], builds: &[Build]) -> Vec<Vec<Extension>> {
    let files: Vec<_> = distributions.iter().flat_map(|one| &one.files).collect();
    let bar = bar(files.len(), "reading");
    let next = AtomicUsize::new(0);
    let read = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads.min(files.len()) {
            scope.spawn(|| {
                loop {
                    // The count alone is shared; the answers go through the lock.
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(index) else { break };
                    let one = verdict::read(file, builds);
                    read.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((index, one));
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
    let mut read = read.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    read.sort_by_key(|(index, _)| *index);
    let mut read = read.into_iter().map(|(_, one)| one);
    distributions.iter().map(|one| read.by_ref().take(one.files.len()).collect()).collect()
}

fn folder_of_wheels(
    folder: &Path,
    failed: &mut BTreeMap<String, String>,
) -> Result<Vec<Distribution>> {
    let mut wheels: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    wheels.retain(|path| is_wheel(path));
    wheels.sort();
    let mut out = Vec::new();
    for path in wheels {
        match source::wheel(&path) {
            Ok(one) => out.push(one),
            Err(error) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                failed.insert(name, format!("{error:#}"));
            }
        }
    }
    Ok(out)
}

fn is_wheel(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "whl") && !path.is_dir()
}

fn is_extension(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "so" || e == "pyd") && !path.is_dir()
}

fn has_wheels(folder: &Path) -> Result<bool> {
    for entry in std::fs::read_dir(folder)? {
        if is_wheel(&entry?.path()) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn bar(steps: usize, what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} {msg}")
        .expect("the template is a constant")
        .progress_chars("=> ");
    ProgressBar::new(steps as u64).with_style(style).with_prefix(what)
}

/// The interpreter's own environment, for `python -m ungil.doctor` without arguments.
pub fn here() -> Result<PathBuf> {
    match std::env::var_os("VIRTUAL_ENV") {
        Some(path) => Ok(path.into()),
        None => bail!(
            "no environment is active: name a venv, an interpreter, a wheel, a folder of wheels or \
             a requirements file"
        ),
    }
}
