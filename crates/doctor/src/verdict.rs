//! From what was read and what was imported to what a person is told.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::binary::{self, Declares, Flavour};
use crate::known;
use crate::probe::Import;
use crate::rules::{Note, Notes, Rule};
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
    let modules = extensions.iter().filter(|one| one.declares != Declares::NoModule).count();
    let tried: Vec<&Extension> = extensions.iter().filter(|one| one.tried_by(build)).collect();
    let mut notes = Notes::default();
    let mut status = if modules == 0 { Status::Pure } else { Status::Free };
    if modules > 0 && tried.is_empty() {
        status = none_is_for(build, &of, modules, &mut notes);
    }
    for one in &tried {
        status = status.max(weigh(one, build, &mut notes));
    }
    let forgot = tried.iter().filter(|one| one.turns_on() == Some(true)).count();
    if forgot > 0 && forgot < tried.len() {
        let all = count(tried.len(), "extension");
        notes.say(Rule::Mixed, format!("{forgot} of its {all} do not declare it"));
    }
    let tagged_free_threaded = of.tags.iter().any(WheelTag::claims_free_threading);
    if forgot > 0 && tagged_free_threaded {
        notes.say(Rule::TagAndBinaryDiffer, "its wheel is tagged for free threads");
    }
    if let Some(known) = known::native_part(&of.name).filter(|_| modules == 0) {
        status = Status::Fallback;
        notes.say(
            Rule::PureFallback,
            format!(
                "this is its pure-Python part; the native one ({}) is not here. {} ({})",
                known.module, known.source, known.date
            ),
        );
    }
    say_if_declined(&of.name, &mut notes);
    let (name, version, notes) = (of.name, of.version, notes.0);
    Judged { name, version, status, tagged_free_threaded, notes, extensions }
}

/// Extensions, and none that `build` tries. A wheel for any build runs without them.
fn none_is_for(build: Build, of: &Distribution, modules: usize, notes: &mut Notes) -> Status {
    if !of.tags.is_empty() && of.tags.iter().all(WheelTag::pure) {
        let text = format!(
            "its wheel is for any build, and its {} for others: it runs without",
            count(modules, "extension")
        );
        notes.say(Rule::PureFallback, text);
        return Status::Fallback;
    }
    let text = format!(
        "no extension of it is for {build} ({modules} for others): install from a wheel for \
         {build}, or build from source there"
    );
    notes.say(Rule::NoExtensionForBuild, text);
    Status::CannotLoad
}

/// One extension that `build` tries.
fn weigh(one: &Extension, build: Build, notes: &mut Notes) -> Status {
    if one.loads.get(&build.to_string()) == Some(&Loads::Unsound) {
        let text = format!(
            "{}: {build} tries a .abi3.so, which is made for the objects of the GIL-enabled build",
            one.path
        );
        notes.say(Rule::Abi3OnFreeThreaded, text);
        return Status::CannotLoad;
    }
    let status = match one.turns_on() {
        Some(true) => {
            let how = match &one.declares {
                Declares::Gil(how) => how,
                _ => "seen at its import",
            };
            let cure = one.flavour.as_ref().map_or("", |flavour| flavour.cure());
            let text = format!("{}: {how}; its author: {cure}", one.module);
            notes.say(Rule::TurnsTheGilOn, text);
            Status::TurnsOn
        }
        Some(false) => Status::Free,
        None => {
            let why = match &one.declares {
                Declares::Through(other) => {
                    format!("its module is made by {other}, which is in another distribution")
                }
                Declares::CannotTell(why) => why.clone(),
                _ => String::from("nothing is known"),
            };
            notes.say(Rule::CannotTell, format!("{}: {why}", one.path));
            Status::CannotTell
        }
    };
    let read = match one.declares {
        Declares::Free(_) => Some(false),
        Declares::Gil(_) => Some(true),
        _ => None,
    };
    if one.imported.is_some() && read.is_some() && one.turns_on() != read {
        let text =
            format!("{}: the file says one thing and its import another: report it", one.path);
        notes.say(Rule::ReadAndImportDiffer, text);
    }
    status
}

fn say_if_declined(name: &str, notes: &mut Notes) {
    if let Some(known) = known::declines(name) {
        notes.say(Rule::Declines, format!("{} {} ({})", known.what, known.source, known.date));
    }
}

/// A pin of which the index has no wheel for the build.
pub fn no_wheel(pin: &str, build: Build) -> Judged {
    let (name, version) = pin.split_once("==").unwrap_or((pin, ""));
    let mut notes = Notes::default();
    let text =
        format!("the index has no wheel for {build}: it is built from source, or not at all");
    notes.say(Rule::NoWheelForBuild, text);
    say_if_declined(name, &mut notes);
    Judged {
        name: name.into(),
        version: version.into(),
        status: Status::CannotLoad,
        tagged_free_threaded: false,
        notes: notes.0,
        extensions: Vec::new(),
    }
}

pub fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
