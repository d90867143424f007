//! An interpreter from published parts, for machines that reach a package index and Debian only.
//!
//! The executable and the extension modules come from the `freeze-core` wheel, the pure-Python
//! library and the headers from Debian. Everything is built beside its final place and moved there
//! at the end, so a broken download leaves nothing half-built. The book's appendix explains it.

mod debian;
mod elf;
mod sysconfig;
mod wheel;

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::{Build, pip};
use crate::{paths, sh};

pub fn prefix(build: Build) -> PathBuf {
    paths::local(&format!("interpreters/{}", build.name()))
}

pub fn executable(build: Build) -> PathBuf {
    prefix(build).join(format!("bin/python{}", build.name()))
}

/// Assembles `build` into its prefix and returns the executable.
pub fn assemble(build: Build) -> Result<PathBuf> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        bail!(
            "the published parts exist for x86-64 Linux only; use uv or set {}",
            build.variable()
        );
    }
    let step = sh::Step::new(format!("assembling CPython {} from published parts", build.name()));
    let target = prefix(build);
    whole_or_not(&target, |scratch, tree| build_tree(build, scratch, tree, &target))?;
    step.done();
    Ok(executable(build))
}

/// Lets `make` fill a tree beside `target` and moves it there when it is whole. If `make` fails,
/// what was at `target` stays and nothing is left beside it.
fn whole_or_not(target: &Path, make: impl FnOnce(&Path, &Path) -> Result<()>) -> Result<()> {
    let scratch = tempfile::Builder::new()
        .prefix("assembling-")
        .tempdir_in(target.parent().context("the prefix has a parent")?)?;
    let tree = scratch.path().join("tree");
    make(scratch.path(), &tree)?;
    if target.exists() {
        // Out of the way by a rename, so that there is no moment with half of it.
        std::fs::rename(target, scratch.path().join("old"))?;
    }
    std::fs::rename(&tree, target)?;
    Ok(())
}

fn build_tree(build: Build, scratch: &Path, tree: &Path, target: &Path) -> Result<()> {
    let name = build.name();
    let lib = tree.join(format!("lib/python{name}"));
    let include = tree.join(format!("include/python{name}"));
    for dir in [&lib, &include, &tree.join("bin")] {
        std::fs::create_dir_all(dir)?;
    }

    let wheel = wheel::download(build, scratch)?;
    let base = wheel.base_executable()?;
    let patched = elf::retarget_main(&base, "Py_BytesMain")
        .context("the wheel's executable is not of the kind that can be given a Python main")?;
    let exe = tree.join(format!("bin/python{name}"));
    std::fs::write(&exe, patched)?;
    pip::executable(&exe)?;
    for link in ["python3", "python"] {
        symlink(format!("python{name}"), tree.join("bin").join(link))?;
    }
    wheel.unpack("freeze_core/lib/", &lib.join("lib-dynload"))?;
    wheel.unpack("freeze_core.libs/", &tree.join("lib/freeze_core.libs"))?;

    let patch = patch_number(&exe, build.minor)?;
    let debian = debian::fetch(build.minor, patch, scratch)?;
    debian.library_into(&lib)?;
    debian.headers_into(&include, build.free_threaded)?;
    sysconfig::write(&debian.build_variables()?, build, &lib, target)
}

/// The executable's own patch number: `-V` needs no library.
fn patch_number(exe: &Path, minor: u8) -> Result<u32> {
    let output = sh::run_within(Command::new(exe).arg("-V"), Duration::from_secs(20))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.trim()
        .strip_prefix(&format!("Python 3.{minor}."))
        .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
        .with_context(|| format!("the wheel's executable calls itself {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(folder: &Path) -> Vec<String> {
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.unwrap().file_name().into_string().unwrap()
        };
        std::fs::read_dir(folder).unwrap().map(name).collect()
    }

    fn fill(_: &Path, tree: &Path) -> Result<()> {
        std::fs::create_dir_all(tree.join("bin"))?;
        Ok(std::fs::write(tree.join("bin/python"), "new")?)
    }

    #[test]
    fn a_broken_download_leaves_nothing_half_built() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("3.14t");
        let broken = |scratch: &Path, tree: &Path| {
            std::fs::write(scratch.join("wheel"), "half")?;
            fill(scratch, tree)?;
            bail!("the connection broke")
        };
        assert!(whole_or_not(&target, broken).is_err());
        assert!(entries(folder.path()).is_empty(), "{:?}", entries(folder.path()));
        // Over an interpreter that works, it stays.
        std::fs::create_dir(&target).unwrap();
        std::fs::write(target.join("works"), "").unwrap();
        assert!(whole_or_not(&target, broken).is_err());
        assert_eq!(entries(folder.path()), ["3.14t"]);
        assert_eq!(entries(&target), ["works"]);
    }

    #[test]
    fn a_whole_one_takes_the_place_of_the_old() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("3.14t");
        std::fs::create_dir(&target).unwrap();
        std::fs::write(target.join("old"), "").unwrap();
        whole_or_not(&target, fill).unwrap();
        assert_eq!(entries(folder.path()), ["3.14t"]);
        assert_eq!(entries(&target), ["bin"]);
    }
}
