//! Which interpreter loads which file: the suffix of an extension, the tags of a wheel.
//!
//! Source: `_imp.extension_suffixes()` of each build (the lesson `wheels` prints them), and the
//! packaging specification of platform compatibility tags.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// One build of CPython: `3.14`, `3.14t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Build {
    pub minor: u32,
    pub free_threaded: bool,
}

impl FromStr for Build {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.strip_prefix("3.").unwrap_or_default();
        let (digits, free_threaded) = match digits.strip_suffix('t') {
            Some(digits) => (digits, true),
            None => (digits, false),
        };
        let minor = digits.parse().map_err(|_| format!("{text:?} is not like 3.14 or 3.14t"))?;
        if free_threaded && minor < 13 {
            return Err(format!("{text}: there is no free-threaded build before 3.13"));
        }
        Ok(Self { minor, free_threaded })
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "3.{}{}", self.minor, if self.free_threaded { "t" } else { "" })
    }
}

impl Serialize for Build {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// What the name of an extension file claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abi {
    /// `.cpython-314t-...so`, `.cp314t-...pyd`.
    Exact(Build),
    /// `.abi3.so`: the stable ABI of the GIL-enabled builds.
    Abi3,
    /// `.abi3t.so`: that of both, from 3.15.
    Abi3t,
    /// `.so`, `.pyd`: nothing.
    Plain,
}

impl fmt::Display for Abi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(build) => build.fmt(f),
            Self::Abi3 => f.write_str("abi3"),
            Self::Abi3t => f.write_str("abi3t"),
            Self::Plain => f.write_str("no tag"),
        }
    }
}

impl Serialize for Abi {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// Whether a build takes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loads {
    Yes,
    No,
    /// The file is tried, and made for objects of another layout: 3.13t and 3.14t try `.abi3.so`.
    Unsound,
}

impl Abi {
    /// The module's last name and the claim, or `None` for a file that is no extension's.
    pub fn of_file(name: &str) -> Option<(&str, Self)> {
        let (stem, windows) = match (name.strip_suffix(".so"), name.strip_suffix(".pyd")) {
            (Some(stem), _) => (stem, false),
            (_, Some(stem)) => (stem, true),
            _ => return None,
        };
        let Some((module, tag)) = stem.split_once('.') else { return Some((stem, Self::Plain)) };
        let abi = if windows { windows_tag(tag)? } else { unix_tag(tag)? };
        Some((module, abi))
    }

    pub fn minor(self) -> Option<u32> {
        match self {
            Self::Exact(build) => Some(build.minor),
            Self::Abi3t => Some(15),
            _ => None,
        }
    }

    pub fn free_threaded(self) -> bool {
        matches!(self, Self::Exact(Build { free_threaded: true, .. }))
    }

    pub fn loads(self, build: Build) -> Loads {
        let yes = match self {
            Self::Exact(own) => own == build,
            Self::Abi3 if build.free_threaded && build.minor < 15 => return Loads::Unsound,
            Self::Abi3 => !build.free_threaded,
            Self::Abi3t => build.minor >= 15,
            Self::Plain => true,
        };
        if yes { Loads::Yes } else { Loads::No }
    }
}

/// `cpython-314t-x86_64-linux-gnu`, `abi3`, `abi3t-x86_64-linux-gnu`, `pypy311-pp73-...`.
fn unix_tag(tag: &str) -> Option<Abi> {
    match tag.split('-').collect::<Vec<_>>().as_slice() {
        ["cpython", version, ..] => exact(version),
        ["abi3", ..] => Some(Abi::Abi3),
        ["abi3t", ..] => Some(Abi::Abi3t),
        _ => None,
    }
}

fn windows_tag(tag: &str) -> Option<Abi> {
    exact(tag.split('-').next()?.strip_prefix("cp")?)
}

/// `314t`, and `36m` of old.
fn exact(version: &str) -> Option<Abi> {
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    let minor = digits.strip_prefix('3')?.parse().ok()?;
    let free_threaded = version[digits.len()..].starts_with('t');
    Some(Abi::Exact(Build { minor, free_threaded }))
}

/// A wheel's `python-abi-platform`, each of which may be several, joined by dots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WheelTag {
    pub python: Vec<String>,
    pub abi: Vec<String>,
    pub platform: Vec<String>,
}

impl WheelTag {
    /// Of a file name: `name-1.0-cp314-cp314t-manylinux_2_28_x86_64.whl`.
    pub fn of_wheel(name: &str) -> Option<Self> {
        let parts: Vec<&str> = name.strip_suffix(".whl")?.rsplitn(4, '-').collect();
        let [platform, abi, python, _] = parts.as_slice() else { return None };
        Some(Self::new(python, abi, platform))
    }

    /// Of a `Tag:` line in a `WHEEL` file.
    pub fn of_line(line: &str) -> Option<Self> {
        let mut parts = line.trim().splitn(3, '-');
        Some(Self::new(parts.next()?, parts.next()?, parts.next()?))
    }

    fn new(python: &str, abi: &str, platform: &str) -> Self {
        let split = |text: &str| text.split('.').map(String::from).collect();
        Self { python: split(python), abi: split(abi), platform: split(platform) }
    }

    pub fn pure(&self) -> bool {
        self.abi == ["none"] && self.platform == ["any"]
    }

    /// Whether an installer for `build` takes it, whatever the platform.
    pub fn fits(&self, build: Build) -> bool {
        self.python.iter().any(|python| self.abi.iter().any(|abi| fits(python, abi, build)))
    }

    /// Whether the tag says "for a free-threaded build".
    pub fn claims_free_threading(&self) -> bool {
        self.abi.iter().any(|abi| {
            abi == "abi3t"
                || abi.strip_prefix("cp3").is_some_and(|rest| {
                    rest.ends_with('t') && rest[..rest.len() - 1].parse::<u32>().is_ok()
                })
        })
    }
}

fn fits(python: &str, abi: &str, build: Build) -> bool {
    let minor = |text: &str| text.parse::<u32>().ok();
    if let Some(rest) = python.strip_prefix("py") {
        return abi == "none"
            && (rest == "3"
                || rest.strip_prefix('3').and_then(minor).is_some_and(|m| m <= build.minor));
    }
    let Some(own) = python.strip_prefix("cp3").and_then(minor) else { return false };
    match abi {
        "abi3" => !build.free_threaded && own <= build.minor,
        "abi3t" => build.minor >= 15 && own <= build.minor,
        "none" => own == build.minor,
        _ => {
            let t = if build.free_threaded { "t" } else { "" };
            own == build.minor && abi == format!("cp3{}{t}", build.minor)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(text: &str) -> Build {
        text.parse().unwrap()
    }

    #[test]
    fn a_file_says_what_it_is_for() {
        let of = |name| Abi::of_file(name).map(|(stem, abi)| (stem.to_owned(), abi.to_string()));
        let some = |stem: &str, abi: &str| Some((stem.to_owned(), abi.to_owned()));
        assert_eq!(of("lib.cpython-314t-x86_64-linux-gnu.so"), some("lib", "3.14t"));
        assert_eq!(of("lib.cpython-314-x86_64-linux-gnu.so"), some("lib", "3.14"));
        assert_eq!(of("_core.abi3.so"), some("_core", "abi3"));
        assert_eq!(of("_core.abi3t.so"), some("_core", "abi3t"));
        assert_eq!(of("_core.abi3t-x86_64-linux-gnu.so"), some("_core", "abi3t"));
        assert_eq!(of("_core.cp314t-win_amd64.pyd"), some("_core", "3.14t"));
        assert_eq!(of("_core.so"), some("_core", "no tag"));
        assert_eq!(of("libfoo.so.1"), None);
        assert_eq!(of("x.pypy311-pp73-x86_64-linux-gnu.so"), None);
    }

    #[test]
    fn each_build_takes_its_own() {
        let loads = |name: &str, on: &str| Abi::of_file(name).unwrap().1.loads(build(on));
        let own = "x.cpython-314t-x86_64-linux-gnu.so";
        assert_eq!(loads(own, "3.14t"), Loads::Yes);
        assert_eq!(loads(own, "3.14"), Loads::No);
        assert_eq!(loads(own, "3.15t"), Loads::No);
        assert_eq!(loads("x.abi3.so", "3.15"), Loads::Yes);
        assert_eq!(loads("x.abi3.so", "3.14t"), Loads::Unsound);
        assert_eq!(loads("x.abi3.so", "3.15t"), Loads::No);
        assert_eq!(loads("x.abi3t.so", "3.15t"), Loads::Yes);
        assert_eq!(loads("x.abi3t.so", "3.15"), Loads::Yes);
        assert_eq!(loads("x.abi3t.so", "3.14t"), Loads::No);
    }

    #[test]
    fn a_wheel_of_two_abis_is_for_both() {
        let tag = WheelTag::of_wheel("x-1.0-cp315-abi3.abi3t-manylinux_2_28_x86_64.whl").unwrap();
        assert!(tag.fits(build("3.15")) && tag.fits(build("3.15t")) && tag.fits(build("3.16t")));
        assert!(!tag.fits(build("3.14")) && !tag.fits(build("3.14t")));
        assert!(tag.claims_free_threading());
        let tag = WheelTag::of_wheel("x-1.0-1-cp311-abi3-manylinux_2_28_x86_64.whl").unwrap();
        assert!(tag.fits(build("3.14")) && !tag.fits(build("3.14t")) && !tag.fits(build("3.15t")));
        assert!(!tag.claims_free_threading());
        let tag = WheelTag::of_wheel("x-1.0-cp314-cp314t-win_amd64.whl").unwrap();
        assert!(tag.fits(build("3.14t")) && !tag.fits(build("3.14")));
        assert!(tag.claims_free_threading());
        let tag = WheelTag::of_wheel("x-1.0-py2.py3-none-any.whl").unwrap();
        assert!(tag.fits(build("3.14t")) && tag.pure());
    }

    #[test]
    fn a_build_is_a_version() {
        assert_eq!("3.14t".parse::<Build>().unwrap().to_string(), "3.14t");
        for wrong in ["314t", "3.x", "2.7", "3.12t", ""] {
            assert!(wrong.parse::<Build>().is_err(), "{wrong}");
        }
    }
}
