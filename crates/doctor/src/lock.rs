//! Requirements and lock files: which wheel a free-threaded build would get of each pinned name.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use tempfile::TempDir;

use crate::tags::Build;

/// A text of requirements, or `uv.lock`, `pylock.toml`, `poetry.lock`.
pub fn is(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "txt" || e == "lock" || e == "toml") && !path.is_dir()
}

/// The pinned names of the file. One that is not pinned is an error: it has no one answer.
pub fn pins(path: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    if path.extension().is_some_and(|e| e == "txt") {
        return text
            .replace("\\\n", " ")
            .lines()
            .map(|line| line.split('#').next().unwrap_or_default().trim())
            .filter(|line| !line.is_empty() && !line.starts_with('-'))
            .map(|line| {
                let pin = line.split([';', ' ']).next().unwrap_or_default();
                match pin.split_once("==") {
                    Some((_, version)) if !version.contains('*') => Ok(pin.to_owned()),
                    _ => bail!("{}: {line:?} is not pinned: write name==version", path.display()),
                }
            })
            .collect();
    }
    #[derive(Deserialize)]
    struct Locked {
        #[serde(alias = "packages")]
        package: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
        version: Option<String>,
    }
    let locked: Locked = toml::from_str(&text)
        .with_context(|| format!("{} is no lock file: it has no packages", path.display()))?;
    let pins = locked.package.into_iter();
    Ok(pins.filter_map(|one| Some(format!("{}=={}", one.name, one.version?))).collect())
}

/// The wheels of a lock file.
pub struct Fetched {
    /// Removed when it is dropped.
    pub folder: TempDir,
    /// Pins of which the index has no wheel for the build.
    pub without: Vec<String>,
}

/// Downloads a wheel of each pin with pip; what fails otherwise is told in `failed`.
pub fn fetch(path: &Path, build: Build, failed: &mut BTreeMap<String, String>) -> Result<Fetched> {
    let folder = tempfile::tempdir()?;
    let mut without = Vec::new();
    let pins = pins(path)?;
    let version = format!("3.{}", build.minor);
    let abi = format!("cp3{}{}", build.minor, if build.free_threaded { "t" } else { "" });
    for (k, pin) in pins.iter().enumerate() {
        eprintln!("{} of {}: {pin}", k + 1, pins.len());
        let mut command = Command::new("python3");
        command
            .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"])
            .args(["--no-deps", "--only-binary=:all:", "--implementation", "cp"])
            .args(["--python-version", &version, "--abi", &abi, "--abi", "none"]);
        if build.minor >= 15 {
            command.args(["--abi", "abi3t"]);
        }
        for glibc in [17, 24, 26, 27, 28, 31, 34, 35] {
            command.args(["--platform", &format!("manylinux_2_{glibc}_x86_64")]);
        }
        command.args(["--platform", "manylinux2014_x86_64", "--platform", "any"]);
        let out = command.arg("--dest").arg(folder.path()).arg(pin).output();
        let out = out.context("python3 -m pip does not run: it fetches the wheels")?;
        if !out.status.success() {
            let text = String::from_utf8_lossy(&out.stderr);
            let why = text.lines().rev().find(|line| line.starts_with("ERROR")).unwrap_or("ERROR");
            if why.contains("No matching distribution") {
                without.push(pin.clone());
            } else {
                failed.insert(pin.clone(), why.to_owned());
            }
        }
    }
    Ok(Fetched { folder, without })
}

#[cfg(test)]
mod tests {
    use super::pins;

    #[test]
    fn pins_are_read_from_each_kind_of_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let text = "# a\n--index-url x\nnumpy==2.5.5 \\\n    --hash=sha256:aa\npandas==3.1.1 ; x\n";
        assert_eq!(pins(&file("r.txt", text)).unwrap(), ["numpy==2.5.5", "pandas==3.1.1"]);
        let text = "version = 1\n[[package]]\nname = \"a\"\nversion = \"1\"\n[[package]]\nname = \"own\"\n";
        assert_eq!(pins(&file("uv.lock", text)).unwrap(), ["a==1"]);
        let text = "[[packages]]\nname = \"a\"\nversion = \"1\"\n";
        assert_eq!(pins(&file("pylock.toml", text)).unwrap(), ["a==1"]);
        let error = pins(&file("loose.txt", "numpy>=2\n")).unwrap_err().to_string();
        assert!(error.contains("\"numpy>=2\" is not pinned"), "{error}");
        let error = pins(&file("Cargo.toml", "[workspace]\n")).unwrap_err().to_string();
        assert!(error.contains("is no lock file"), "{error}");
    }
}
