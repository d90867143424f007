//! The pure-Python library and the headers, out of Debian's packages.
//!
//! apt works on private state here, so the machine's own sources stay as they are; it verifies the
//! packages by the archive's signature. The mirror is the one that this machine's apt already uses.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};
use walkdir::WalkDir;

use crate::sh;

const SUITES: [&str; 2] = ["testing", "unstable"];
const PACKAGES: [&str; 3] = ["minimal", "stdlib", "dev"];
const LIMIT: Duration = Duration::from_secs(600);

pub struct Debian {
    tree: PathBuf,
    minor: u8,
}

/// Downloads and unpacks the packages whose version is nearest to 3.`minor`.`patch`.
pub fn fetch(minor: u8, patch: u32, scratch: &Path) -> Result<Debian> {
    let apt = Apt::new(&scratch.join("apt"))?;
    apt.run("apt-get", &["update"])?;
    let listing = apt.run("apt-cache", &["madison", &format!("libpython3.{minor}-stdlib")])?;
    let version = nearest(&listing, minor, patch).with_context(|| {
        format!("Debian's {} have no libpython3.{minor}-stdlib", SUITES.join(" and "))
    })?;
    let packages: Vec<String> =
        PACKAGES.iter().map(|p| format!("libpython3.{minor}-{p}={version}")).collect();
    let mut words = vec!["download"];
    words.extend(packages.iter().map(String::as_str));
    apt.run("apt-get", &words)?;

    let tree = scratch.join("debian");
    for entry in std::fs::read_dir(&apt.dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "deb") {
            sh::run(Command::new("dpkg").arg("-x").arg(&path).arg(&tree))?;
        }
    }
    Ok(Debian { tree, minor })
}

/// The newest version that is not newer than the executable, else the oldest one.
///
/// A library newer than its executable may call what that does not have yet.
fn nearest(madison: &str, minor: u8, patch: u32) -> Option<String> {
    let mut versions: Vec<(u32, String)> = madison
        .lines()
        .filter_map(|line| {
            let version = line.split('|').nth(1)?.trim();
            let digits = version.strip_prefix(&format!("3.{minor}."))?;
            let number = digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
            Some((number, version.to_owned()))
        })
        .collect();
    versions.sort();
    let older = versions.iter().rfind(|(number, _)| *number <= patch);
    older.or(versions.first()).map(|(_, version)| version.clone())
}

struct Apt {
    dir: PathBuf,
}

impl Apt {
    fn new(dir: &Path) -> Result<Self> {
        for part in ["lists/partial", "cache/archives/partial"] {
            std::fs::create_dir_all(dir.join(part))?;
        }
        let targets = sh::run(Command::new("apt-get").args([
            "indextargets",
            "--format",
            "$(CREATED_BY)|$(SITE)|$(RELEASE)|$(SIGNED_BY)",
        ]))
        .context("this way needs Debian's apt")?;
        let targets = String::from_utf8_lossy(&targets.stdout).into_owned();
        // The main archive: a mirror whose release has an -updates sibling; else the first one.
        let site = targets
            .lines()
            .filter_map(|line| {
                let mut fields = line.strip_prefix("Packages|")?.split('|');
                Some((fields.next()?, fields.next()?))
            })
            .find(|(_, release)| release.ends_with("-updates"))
            .or_else(|| {
                let mut fields =
                    targets.lines().find_map(|l| l.strip_prefix("Packages|"))?.split('|');
                Some((fields.next()?, fields.next()?))
            })
            .map(|(site, _)| site)
            .context("apt has no sources set up, so no Debian mirror is known")?;
        let keyring = std::path::Path::new("/usr/share/keyrings/debian-archive-keyring.gpg");
        if !keyring.is_file() {
            bail!("Debian's archive keys are missing: install debian-archive-keyring");
        }
        let sources: String = SUITES
            .iter()
            .map(|suite| format!("deb [signed-by={}] {site} {suite} main\n", keyring.display()))
            .collect();
        std::fs::write(dir.join("sources.list"), sources)?;
        Ok(Self { dir: dir.to_owned() })
    }

    fn run(&self, program: &str, words: &[&str]) -> Result<String> {
        let dir = self.dir.display();
        let mut command = Command::new(program);
        command.current_dir(&self.dir);
        for option in [
            format!("Dir::Etc::sourcelist={dir}/sources.list"),
            "Dir::Etc::sourceparts=/dev/null".into(),
            format!("Dir::State::lists={dir}/lists"),
            format!("Dir::Cache={dir}/cache"),
            // Only the package lists are wanted, not the catalogues for software centres.
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".into(),
            "Acquire::Languages=none".into(),
            "APT::Sandbox::User=root".into(),
        ] {
            command.arg("-o").arg(option);
        }
        let output = sh::run_within(command.args(words), LIMIT)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Debian {
    fn library(&self) -> PathBuf {
        self.tree.join(format!("usr/lib/python3.{}", self.minor))
    }

    pub fn library_into(&self, lib: &Path) -> Result<()> {
        let from = self.library();
        let skipped = |name: &str| {
            matches!(name, "lib-dynload" | "EXTERNALLY-MANAGED" | "sitecustomize.py" | "test")
                || name.starts_with("_sysconfigdata_")
                || name.starts_with("_sysconfig_vars_")
                || name.starts_with("build-details.")
                || name.starts_with("config-")
        };
        let entries = WalkDir::new(&from).into_iter().filter_entry(|entry| {
            entry.depth() != 1 || !skipped(&entry.file_name().to_string_lossy())
        });
        for entry in entries {
            let entry = entry?;
            let to = lib.join(entry.path().strip_prefix(&from)?);
            if entry.file_type().is_dir() {
                std::fs::create_dir_all(&to)?;
            } else if entry.file_type().is_file() {
                std::fs::copy(entry.path(), &to)?;
            }
        }
        Ok(())
    }

    pub fn headers_into(&self, include: &Path, free_threaded: bool) -> Result<()> {
        let name = format!("python3.{}", self.minor);
        let from = self.tree.join("usr/include").join(&name);
        for entry in WalkDir::new(&from) {
            let entry = entry?;
            let to = include.join(entry.path().strip_prefix(&from)?);
            if entry.file_type().is_dir() {
                std::fs::create_dir_all(&to)?;
            } else {
                std::fs::copy(entry.path(), &to)?;
            }
        }
        let real = self.tree.join("usr/include/x86_64-linux-gnu").join(&name).join("pyconfig.h");
        let mut text = std::fs::read_to_string(&real)
            .with_context(|| format!("Debian's {} is missing", real.display()))?;
        if free_threaded {
            text.push_str("\n#define Py_GIL_DISABLED 1\n");
        }
        Ok(std::fs::write(include.join("pyconfig.h"), text)?)
    }

    /// Debian's `build_time_vars`.
    pub fn build_variables(&self) -> Result<Map<String, Value>> {
        let file = self.library().join("_sysconfig_vars__linux_x86_64-linux-gnu.json");
        let text = std::fs::read_to_string(&file)
            .with_context(|| format!("Debian's {} is missing", file.display()))?;
        Ok(serde_json::from_str(&text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_library_is_never_newer_than_the_executable_if_that_can_be_had() {
        let listing = "libpython3.14-stdlib |  3.14.10-1 | mirror unstable/main amd64 Packages\n\
                       libpython3.14-stdlib |   3.14.8-1 | mirror testing/main amd64 Packages\n";
        assert_eq!(nearest(listing, 14, 9).as_deref(), Some("3.14.8-1"));
        assert_eq!(nearest(listing, 14, 10).as_deref(), Some("3.14.10-1"));
        assert_eq!(nearest(listing, 14, 2).as_deref(), Some("3.14.8-1"));
        assert_eq!(nearest(listing, 15, 0), None);
        assert_eq!(nearest("", 14, 9), None);
    }
}
