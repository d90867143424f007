//! What there is to say of a distribution: each rule with the weight that code scanners give it.

use serde::Serialize;

/// Its name in `--json` and in SARIF is this in lower case, with `-`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    TurnsTheGilOn,
    NoExtensionForBuild,
    NoWheelForBuild,
    Abi3OnFreeThreaded,
    TagAndBinaryDiffer,
    ReadAndImportDiffer,
    Mixed,
    PureFallback,
    CannotTell,
    Declines,
}

impl Rule {
    pub const ALL: [Self; 10] = [
        Self::TurnsTheGilOn,
        Self::NoExtensionForBuild,
        Self::NoWheelForBuild,
        Self::Abi3OnFreeThreaded,
        Self::TagAndBinaryDiffer,
        Self::ReadAndImportDiffer,
        Self::Mixed,
        Self::PureFallback,
        Self::CannotTell,
        Self::Declines,
    ];

    /// The level of SARIF, and a line on what it is.
    pub fn described(self) -> (&'static str, &'static str) {
        match self {
            Self::TurnsTheGilOn => ("error", "An extension does not declare that it needs no GIL."),
            Self::NoExtensionForBuild => {
                ("error", "No extension of the distribution is for the build.")
            }
            Self::NoWheelForBuild => ("error", "The index has no wheel for the build."),
            Self::Abi3OnFreeThreaded => {
                ("error", "A .abi3.so lies where a free-threaded build tries it.")
            }
            Self::TagAndBinaryDiffer => {
                ("error", "A wheel tagged for free threads has an undeclared extension.")
            }
            Self::ReadAndImportDiffer => {
                ("warning", "A file says one thing and its import another.")
            }
            Self::Mixed => {
                ("warning", "Some extensions of a distribution declare it, others do not.")
            }
            Self::PureFallback => {
                ("warning", "The pure-Python part of what has a native one is installed.")
            }
            Self::CannotTell => ("warning", "What an extension declares could not be read."),
            Self::Declines => ("note", "The authors refuse free-threaded builds."),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    pub rule: Rule,
    pub text: String,
}

/// What has been said so far.
#[derive(Default)]
pub struct Notes(pub Vec<Note>);

impl Notes {
    pub fn say(&mut self, rule: Rule, text: impl Into<String>) {
        self.0.push(Note { rule, text: text.into() });
    }
}
