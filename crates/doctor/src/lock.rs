//! Requirements and lock files: which wheel a free-threaded build would get of each pinned name.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use tempfile::TempDir;

use crate::tags::{Build, WheelTag};

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
    for (k, pin) in pins.iter().enumerate() {
        eprintln!("{} of {}: {pin}", k + 1, pins.len());
        match wheel_of(pin, build, folder.path())? {
            Answer::Wheel => {}
            Answer::None => without.push(pin.clone()),
            Answer::Failed(why) => drop(failed.insert(pin.clone(), why)),
        }
    }
    Ok(Fetched { folder, without })
}

enum Answer {
    Wheel,
    None,
    Failed(String),
}

/// What an installer for `build` would take; older releases of pip also offer it `abi3`.
fn wheel_of(pin: &str, build: Build, folder: &Path) -> Result<Answer> {
    let t = if build.free_threaded { "t" } else { "" };
    let mut own = vec![format!("cp3{}{t}", build.minor)];
    if build.minor >= 15 {
        own.push("abi3t".into());
    }
    let place = tempfile::tempdir_in(folder)?;
    for abis in [own, Vec::new()] {
        if let Answer::Failed(why) = download(pin, build, &abis, place.path())? {
            if !why.contains("No matching distribution") {
                return Ok(Answer::Failed(why));
            }
            continue;
        }
        for entry in std::fs::read_dir(place.path())? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if WheelTag::of_wheel(&name).is_some_and(|tag| tag.fits(build)) {
                std::fs::rename(entry.path(), folder.join(&name))?;
                return Ok(Answer::Wheel);
            }
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(Answer::None)
}

fn download(pin: &str, build: Build, abis: &[String], to: &Path) -> Result<Answer> {
    let mut command = Command::new("python3");
    command
        .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"])
        .args(["--no-deps", "--only-binary=:all:", "--python-version"])
        .arg(format!("3.{}", build.minor));
    // Without an ABI of its own: what is for any build.
    let implementation = if abis.is_empty() { "py" } else { "cp" };
    command.args(["--implementation", implementation, "--abi", "none"]);
    for abi in abis {
        command.args(["--abi", abi]);
    }
    for glibc in [17, 24, 26, 27, 28, 31, 34, 35] {
        command.args(["--platform", &format!("manylinux_2_{glibc}_x86_64")]);
    }
    command.args(["--platform", "manylinux2014_x86_64", "--platform", "any"]);
    let out = command.arg("--dest").arg(to).arg(pin).output();
    let out = out.context("python3 -m pip does not run: it fetches the wheels")?;
    if out.status.success() {
        return Ok(Answer::Wheel);
    }
    let text = String::from_utf8_lossy(&out.stderr);
    let why = text.lines().rev().find(|line| line.starts_with("ERROR"));
    Ok(Answer::Failed(why.unwrap_or("pip failed and did not say why").to_owned()))
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
