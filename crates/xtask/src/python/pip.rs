//! pip, as the way to whatever package index this machine is set up to reach.
//!
//! No address stands here: pip's own configuration (mirror, certificates) is used as it is.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::{paths, sh};

/// Pinned: an interpreter or an environment that is made tomorrow is the one made today.
const UV: &str = "uv==0.13.9";
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(600);

/// A Python 3 with pip: the one on PATH, or a virtual environment of it if it has none.
fn python_with_pip() -> Result<PathBuf> {
    let has_pip = |exe: &Path| Command::new(exe).args(["-m", "pip", "--version"]).output();
    let python = PathBuf::from("python3");
    match has_pip(&python) {
        Ok(output) if output.status.success() => return Ok(python),
        Ok(_) => {}
        Err(error) => bail!("`python3` could not be started ({error}): install Python 3 first"),
    }
    let boot = paths::local("boot");
    let exe = boot.join("bin/python3");
    if !exe.is_file() {
        sh::run(Command::new(&python).args(["-m", "venv"]).arg(&boot)).context(
            "python3 has neither pip nor venv; install one (Debian: python3-pip or python3-venv)",
        )?;
    }
    Ok(exe)
}

/// Downloads what `requirement` names into `dir`, without dependencies, and returns the file.
///
/// `sha256` makes pip refuse anything else; without it pip still checks the index's own hash.
pub fn download(
    requirement: &str,
    sha256: Option<&str>,
    options: &[&str],
    dir: &Path,
) -> Result<PathBuf> {
    let list = dir.join("requirement.txt");
    let pin = sha256.map(|hash| format!(" --hash=sha256:{hash}")).unwrap_or_default();
    std::fs::write(&list, format!("{requirement}{pin}\n"))?;
    let result = sh::run_within(
        Command::new(python_with_pip()?)
            .args(["-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"])
            .args(["--no-cache-dir", "--dest"])
            .arg(dir)
            .args(options)
            .arg("-r")
            .arg(&list),
        DOWNLOAD_LIMIT,
    );
    std::fs::remove_file(&list)?;
    result.with_context(|| {
        format!("could not download {requirement}; check pip's index (`pip config list`)")
    })?;
    let mut files = std::fs::read_dir(dir)?
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "whl" || e == "gz"));
    files.next().with_context(|| format!("pip reported success but left no file of {requirement}"))
}

/// uv, from its wheel, into the checkout's own folder.
pub fn fetch_uv() -> Result<PathBuf> {
    let target = paths::local("tools/uv");
    if target.is_file() {
        return Ok(target);
    }
    let step = sh::Step::new(format!("fetching {UV}"));
    let dir = tempfile::tempdir_in(paths::local("tools/.").as_path())?;
    let wheel = download(UV, None, &["--only-binary=:all:"], dir.path())?;
    let mut archive = zip::ZipArchive::new(std::fs::File::open(wheel)?)?;
    let name = archive
        .file_names()
        .filter_map(|name| Some(name.ok()?.into_owned()))
        .find(|name| name.ends_with(".data/scripts/uv"))
        .context("the uv wheel has no program in it")?;
    let part = dir.path().join("uv");
    std::io::copy(&mut archive.by_name(&name)?, &mut std::fs::File::create(&part)?)?;
    executable(&part)?;
    std::fs::rename(&part, &target)?;
    step.done();
    Ok(target)
}

pub fn executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?)
}
