//! The wheel that carries a statically linked CPython and the standard library's extension modules.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::super::{Build, pip};

const REQUIREMENT: &str = "freeze-core==0.8.1";

/// What the index gives for these files; anything else is refused.
fn sha256(build: Build) -> &'static str {
    match (build.minor, build.free_threaded) {
        (14, false) => "2500ef546af0c26e30cc8630be353fa02c9ff46d009b76d6d15e79288140d7e6",
        (14, true) => "b8547956f9cbeabaae9cc758bbc65531962c3fb4fa0c2431c802089e7ea86cca",
        (_, false) => "6b28139d5cfea4cf8712b4745ff78e2892d41f33c90437efddf1ae6eaaba11cf",
        (_, true) => "a1c31d6740d6d7ae858ab9e02231928cd49ee5f68d7980a8760b65f333c48890",
    }
}

pub struct Wheel {
    path: PathBuf,
    build: Build,
}

pub fn download(build: Build, scratch: &Path) -> Result<Wheel> {
    let dir = scratch.join("wheel");
    std::fs::create_dir_all(&dir)?;
    let python = format!("--python-version=3.{}", build.minor);
    let abi = format!("--abi=cp3{}{}", build.minor, build.flag());
    let options = [
        "--only-binary=:all:",
        "--implementation=cp",
        "--platform=manylinux2014_x86_64",
        "--platform=manylinux_2_17_x86_64",
        &python,
        &abi,
    ];
    let path = pip::download(REQUIREMENT, Some(sha256(build)), &options, &dir)?;
    Ok(Wheel { path, build })
}

impl Wheel {
    fn open(&self) -> Result<zip::ZipArchive<File>> {
        zip::ZipArchive::new(File::open(&self.path)?)
            .with_context(|| format!("{} is not a wheel", self.path.display()))
    }

    pub fn base_executable(&self) -> Result<Vec<u8>> {
        let name = format!(
            "freeze_core/bases/console-cpython-3{}{}-x86_64-linux-gnu",
            self.build.minor,
            self.build.flag()
        );
        let mut bytes = Vec::new();
        self.open()?
            .by_name(&name)
            .with_context(|| format!("the wheel has no {name}"))?
            .read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Unpacks the shared libraries directly below `from`; at least one must be there.
    pub fn unpack(&self, from: &str, to: &Path) -> Result<()> {
        std::fs::create_dir_all(to)?;
        let mut archive = self.open()?;
        let mut count = 0;
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index)?;
            let Some(name) = entry.name()?.strip_prefix(from).map(str::to_owned) else { continue };
            if name.is_empty() || name.contains('/') || !name.contains(".so") {
                continue;
            }
            let file = to.join(name);
            std::io::copy(&mut entry, &mut File::create(&file)?)?;
            pip::executable(&file)?;
            count += 1;
        }
        if count == 0 {
            bail!("the wheel has no libraries below {from}");
        }
        Ok(())
    }
}
