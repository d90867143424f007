//! From what was read and what was imported to what a person is told.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::binary::{self, Declares, Flavour};
use crate::known;
use crate::probe::Import;
use crate::source::{Distribution, File};
use crate::tags::{Abi, Build, Loads, WheelTag};

/// Of one extension file.
#[derive(Debug, Clone, Serialize)]
pub struct Extension {
    pub path: String,
    #[serde(skip)]
    pub on_disk: Option<PathBuf>,
    pub module: String,
    pub abi: Abi,
    /// By build.
    pub loads: BTreeMap<String, Loads>,
    pub flavour: Option<Flavour>,
    pub declares: Declares,
    pub imported: Option<Import>,
}

/// The worst comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It has no extension.
    Pure,
    /// Each extension that the build loads declares that it does not need the GIL.
    Free,
    /// It has a native part elsewhere, and this is the pure-Python one.
    Fallback,
    CannotTell,
    /// The build takes none of its extensions.
    CannotLoad,
    TurnsOn,
}

#[derive(Debug, Clone, Serialize)]
pub struct Judged {
    pub name: String,
    pub version: String,
    pub status: Status,
    /// Whether its wheel's tags say that it is for a free-threaded build.
    pub tagged_free_threaded: bool,
    /// What there is to say, and to do.
    pub notes: Vec<Note>,
    pub extensions: Vec<Extension>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    pub rule: &'static str,
    pub text: String,
}

/// Reads a file of a distribution; what cannot be read is not clean.
pub fn read(file: &File, builds: &[Build]) -> Extension {
    let loads = builds.iter().map(|build| (build.to_string(), file.abi.loads(*build))).collect();
    let read = file.read().map_err(|error| format!("{error:#}")).and_then(|bytes| {
        binary::read(&bytes, &file.stem, file.abi).map_err(|error| error.to_string())
    });
    let (declares, flavour) = match read {
        Ok(read) => (read.declares, Some(read.flavour)),
        Err(why) => (Declares::CannotTell(why), None),
    };
    Extension {
        path: file.path.clone(),
        on_disk: file.on_disk().map(Path::to_owned),
        module: file.module.clone(),
        abi: file.abi,
        loads,
        flavour,
        declares,
        imported: None,
    }
}

impl Extension {
    /// Whether `build` would take the file, if only to crash on it.
    pub fn tried_by(&self, build: Build) -> bool {
        self.declares != Declares::NoModule
            && !matches!(self.loads.get(&build.to_string()), Some(Loads::No))
    }

    /// What an import says is worth more than what was read.
    fn turns_on(&self) -> Option<bool> {
        match (&self.imported, &self.declares) {
            (Some(Import::TurnsOn { .. }), _) => Some(true),
            (Some(Import::StaysOff), _) => Some(false),
            (Some(Import::Failed { turns_on: Some(turns_on), .. }), _) => Some(*turns_on),
            (_, Declares::Gil(_)) => Some(true),
            (_, Declares::Free(_) | Declares::NoModule) => Some(false),
            (_, Declares::CannotTell(_) | Declares::Through(_)) => None,
        }
    }
}

/// `build` is the free-threaded build that is asked about.
pub fn judge(of: Distribution, extensions: Vec<Extension>, build: Build) -> Judged {
    let modules: Vec<&Extension> =
        extensions.iter().filter(|one| one.declares != Declares::NoModule).collect();
    let tried: Vec<&Extension> =
        modules.iter().copied().filter(|one| one.tried_by(build)).collect();
    let mut notes = Vec::new();
    let mut note = |rule, text| notes.push(Note { rule, text });
    let mut status = if modules.is_empty() { Status::Pure } else { Status::Free };
    let for_any = !of.tags.is_empty() && of.tags.iter().all(WheelTag::pure);
    if !modules.is_empty() && tried.is_empty() && for_any {
        status = Status::Fallback;
        note(
            "pure-fallback",
            format!(
                "its wheel is for any build, and its {} for others: it runs without",
                count(modules.len(), "extension")
            ),
        );
    } else if !modules.is_empty() && tried.is_empty() {
        status = Status::CannotLoad;
        note(
            "no-extension-for-build",
            format!(
                "no extension of it is for {build} ({} for others): install from a wheel for \
                 {build}, or build from source there",
                modules.len()
            ),
        );
    }
    for one in &tried {
        if one.loads.get(&build.to_string()) == Some(&Loads::Unsound) {
            status = status.max(Status::CannotLoad);
            note(
                "abi3-on-free-threaded",
                format!(
                    "{}: {build} tries a .abi3.so, which is made for the objects of the \
                     GIL-enabled build",
                    one.path
                ),
            );
            continue;
        }
        match one.turns_on() {
            Some(true) => {
                status = Status::TurnsOn;
                let how = match (&one.declares, &one.imported) {
                    (Declares::Gil(how), _) => (*how).to_owned(),
                    _ => "seen at its import".into(),
                };
                let cure = one.flavour.as_ref().map_or("", |flavour| flavour.cure());
                note("turns-the-gil-on", format!("{}: {how}; its author: {cure}", one.module));
            }
            Some(false) => {}
            None => {
                status = status.max(Status::CannotTell);
                let why = match &one.declares {
                    Declares::Through(other) => {
                        format!("its module is made by {other}, which is in another distribution")
                    }
                    Declares::CannotTell(why) => why.clone(),
                    _ => String::from("nothing is known"),
                };
                note("cannot-tell", format!("{}: {why}", one.path));
            }
        }
        let read = match one.declares {
            Declares::Free(_) => Some(false),
            Declares::Gil(_) => Some(true),
            _ => None,
        };
        if one.imported.is_some() && read.is_some() && one.turns_on() != read {
            note(
                "read-and-import-differ",
                format!("{}: the file says one thing and its import another: report it", one.path),
            );
        }
    }
    let forgot = tried.iter().filter(|one| one.turns_on() == Some(true)).count();
    if forgot > 0 && forgot < tried.len() {
        note(
            "mixed",
            format!("{forgot} of its {} do not declare it", count(tried.len(), "extension")),
        );
    }
    let tagged_free_threaded = of.tags.iter().any(WheelTag::claims_free_threading);
    if forgot > 0 && tagged_free_threaded {
        note("tag-and-binary-differ", "its wheel is tagged for free threads".into());
    }
    if let Some(known) = known::native_part(&of.name).filter(|_| modules.is_empty()) {
        status = Status::Fallback;
        note(
            "pure-fallback",
            format!(
                "this is its pure-Python part; the native one ({}) is not here. {} ({})",
                known.module, known.source, known.date
            ),
        );
    }
    if let Some(known) = known::declines(&of.name) {
        note("declines", format!("{} {} ({})", known.what, known.source, known.date));
    }
    drop(modules);
    Judged { name: of.name, version: of.version, status, tagged_free_threaded, notes, extensions }
}

/// A pin of which the index has no wheel for the build.
pub fn no_wheel(pin: &str, build: Build) -> Judged {
    let (name, version) = pin.split_once("==").unwrap_or((pin, ""));
    let mut notes = vec![Note {
        rule: "no-wheel-for-build",
        text: format!("the index has no wheel for {build}: it is built from source, or not at all"),
    }];
    if let Some(known) = known::declines(name) {
        let text = format!("{} {} ({})", known.what, known.source, known.date);
        notes.push(Note { rule: "declines", text });
    }
    Judged {
        name: name.into(),
        version: version.into(),
        status: Status::CannotLoad,
        tagged_free_threaded: false,
        notes,
        extensions: Vec::new(),
    }
}

pub fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
