//! What an extension file says of the GIL, read from the file: nothing is imported and nothing runs.

mod flavour;
mod image;
mod imports;
mod machine;
mod slots;
mod step;
mod walk;

use object::{Architecture, FileKind};
use serde::Serialize;

use self::image::Image;
use self::slots::{Gil, Layout};
use self::walk::Found;
use crate::tags::Abi;

pub use self::flavour::Flavour;

/// Why a file could not be read.
#[derive(Debug)]
pub enum Error {
    Malformed(String),
    /// A kind of file that is known and not read.
    Unread(&'static str),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Malformed(why) => write!(f, "the file is damaged: {why}"),
            Self::Unread(what) => write!(f, "{what} is not read here"),
        }
    }
}

impl std::error::Error for Error {}

impl From<object::Error> for Error {
    fn from(error: object::Error) -> Self {
        Self::Malformed(error.to_string())
    }
}

/// What the file declares, as far as it can be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "says", content = "how", rename_all = "kebab-case")]
pub enum Declares {
    /// It does not need the GIL; the words say how it declares that.
    Free(&'static str),
    /// Importing it turns the GIL on.
    Gil(&'static str),
    /// Not an extension module: a plain library, loaded by others.
    NoModule,
    /// Another extension makes its module, and says this of it too.
    Through(&'static str),
    CannotTell(String),
}

/// What was read of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Extension {
    pub declares: Declares,
    pub flavour: Flavour,
}

/// Reads the bytes of a shared library. `stem` is the module's last name; `abi` what its file name
/// claims.
pub fn read(bytes: &[u8], stem: &str, abi: Abi) -> Result<Extension, Error> {
    let flavour = flavour::of(bytes);
    let unread = |what: &str| {
        Ok(Extension {
            declares: Declares::CannotTell(format!("{what} is not read here")),
            flavour: flavour.clone(),
        })
    };
    match FileKind::parse(bytes).map_err(|_| Error::Malformed("no kind of library".into()))? {
        FileKind::Elf64 => {}
        FileKind::Elf32 => return unread("an ELF file of 32 bits"),
        FileKind::MachO32 | FileKind::MachO64 | FileKind::MachOFat32 | FileKind::MachOFat64 => {
            return unread("a library of macOS");
        }
        FileKind::Pe32 | FileKind::Pe64 => return unread("a library of Windows"),
        _ => return Err(Error::Malformed("no kind of library".into())),
    }
    let image = Image::load(bytes)?;
    Ok(Extension { declares: declares(&image, stem, abi, &flavour), flavour })
}

fn declares(image: &Image<'_>, stem: &str, abi: Abi, flavour: &Flavour) -> Declares {
    let entry = |prefix: &str| {
        image.export(&format!("{prefix}{stem}")).or_else(|| {
            // A library that carries others' initialisers is loaded by its own name alone.
            let mut others = image.exports().filter(|name| name.starts_with(prefix));
            let only = others.next().filter(|_| others.next().is_none())?;
            image.export(only)
        })
    };
    let follows = image.architecture == Architecture::X86_64;
    let minor = abi.minor().unwrap_or(14);
    if let Some(entry) = entry("PyModExport_") {
        let slots = follows.then(|| walk::from_export(image, entry, minor)).flatten();
        let unread = || Declares::CannotTell("the slots of PyModExport could not be read".into());
        return slots.map_or_else(unread, said);
    }
    let Some(entry) = entry("PyInit_") else { return Declares::NoModule };
    // It makes a module, and neither way to declare is in the file: no need to look further. One that
    // makes none gets it from another library, as mypyc's do.
    let makes = image.imports("PyModule_Create2") || image.imports("PyModule_FromDefAndSpec2");
    let (defines, sets) =
        (image.imports("PyModuleDef_Init"), image.imports("PyUnstable_Module_SetGIL"));
    if !makes && !defines && *flavour == Flavour::Cffi {
        return Declares::Through("_cffi_backend");
    }
    if makes && !defines && !sets {
        return Declares::Gil("single-phase initialisation that says nothing");
    }
    let layout = if abi.free_threaded() { Layout::FreeThreaded } else { Layout::GilEnabled };
    if !follows {
        return by_shape(image, stem, layout);
    }
    let found = walk::from_init(image, entry, stem, layout, minor);
    // The call that would tell is in the file, and no path came to it.
    if sets && found == [Found::Single] {
        let why = "PyUnstable_Module_SetGIL is called somewhere that could not be followed";
        return Declares::CannotTell(why.into());
    }
    judge(&found)
}

fn said(gil: Gil) -> Declares {
    match gil {
        Gil::NotUsed => Declares::Free("Py_mod_gil is Py_MOD_GIL_NOT_USED"),
        Gil::Used => Declares::Gil("Py_mod_gil is Py_MOD_GIL_USED"),
        Gil::Absent => Declares::Gil("it has no Py_mod_gil slot"),
    }
}

/// Paths that end without a module say nothing; the others must agree.
fn judge(found: &[Found]) -> Declares {
    let mut verdicts = Vec::new();
    for one in found {
        verdicts.push(match one {
            Found::Definition(Some(gil)) => said(*gil),
            Found::SetGil(Some(true)) => {
                Declares::Free("PyUnstable_Module_SetGIL(Py_MOD_GIL_NOT_USED)")
            }
            Found::SetGil(Some(false)) => {
                Declares::Gil("PyUnstable_Module_SetGIL(Py_MOD_GIL_USED)")
            }
            Found::Single => Declares::Gil("single-phase initialisation that says nothing"),
            Found::Definition(None) => {
                Declares::CannotTell("its definition is made at run time".into())
            }
            Found::SetGil(None) => Declares::CannotTell("the value is computed at run time".into()),
        });
    }
    // A path that declares is the module's; beside it one that makes a module and does not get so
    // far is one in which something failed.
    if let Some(free) = verdicts.iter().find(|v| matches!(v, Declares::Free(_))) {
        if !verdicts.iter().any(|v| matches!(v, Declares::Gil(how) if !how.starts_with("single"))) {
            return free.clone();
        }
        return Declares::CannotTell("one path declares it and another does not".into());
    }
    if let Some(unknown) = verdicts.iter().find(|v| matches!(v, Declares::CannotTell(_))) {
        return unknown.clone();
    }
    match verdicts.into_iter().next() {
        Some(verdict) => verdict,
        None => Declares::CannotTell("its initialiser could not be followed".into()),
    }
}

/// Of another processor: the code is not followed; the definition that has the module's name is
/// looked for among the words that the loader writes.
fn by_shape(image: &Image<'_>, stem: &str, layout: Layout) -> Declares {
    let mut said_by = Vec::new();
    for (at, value) in image.relocated() {
        let named = image.text(value).is_some_and(|text| text.rsplit('.').next() == Some(stem));
        let Some(def) = at.checked_sub(layout.name()).filter(|_| named) else { continue };
        if let Some(gil) = slots::of_definition(image, def, layout) {
            let verdict = said(gil);
            if !said_by.contains(&verdict) {
                said_by.push(verdict);
            }
        }
    }
    match said_by.as_slice() {
        [one] => one.clone(),
        _ => Declares::CannotTell("code of this processor is not followed".into()),
    }
}
