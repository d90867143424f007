//! Where files come from: an environment, a wheel, a folder of wheels, one extension.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use walkdir::WalkDir;

use crate::tags::{Abi, Build, WheelTag};

/// A larger file is not read: no extension is, and a zip may claim any size.
pub const LARGEST_FILE: u64 = 1 << 30;
const MOST_ENTRIES: usize = 200_000;
const LARGEST_TEXT: u64 = 64 << 20;

/// A distribution before anything is judged.
#[derive(Debug, Default)]
pub struct Distribution {
    pub name: String,
    pub version: String,
    pub tags: Vec<WheelTag>,
    /// Of each extension file.
    pub files: Vec<File>,
    pub classifiers: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct File {
    /// Relative to the folder of packages, with `/`.
    pub path: String,
    pub module: String,
    pub stem: String,
    pub abi: Abi,
    from: From,
}

#[derive(Debug, Clone)]
enum From {
    Disk(PathBuf),
    Wheel(PathBuf),
}

impl File {
    fn new(path: &str, from: From) -> Option<Self> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let (stem, abi) = Abi::of_file(name)?;
        // auditwheel puts the libraries that others need beside the package.
        if folder.split('/').any(|part| part.ends_with(".libs")) {
            return None;
        }
        // A wheel may keep its packages below `x-1.0.data/platlib`, from where they are installed.
        let installed = match folder.split_once(".data/") {
            Some((_, rest)) => rest.split_once('/').map_or("", |(_, inside)| inside),
            None => folder,
        };
        let mut module = installed.replace('/', ".");
        if !module.is_empty() {
            module.push('.');
        }
        module.push_str(stem);
        // A package that is an extension itself.
        let module = module.strip_suffix(".__init__").map_or(module.clone(), str::to_owned);
        Some(Self { path: path.into(), module, stem: stem.into(), abi, from })
    }

    /// Where it is, unless it is in a wheel.
    pub fn on_disk(&self) -> Option<&Path> {
        match &self.from {
            From::Disk(path) => Some(path),
            From::Wheel(_) => None,
        }
    }

    /// The file's bytes; an error names what is wrong with it.
    pub fn read(&self) -> Result<Vec<u8>> {
        match &self.from {
            From::Disk(path) => {
                let file = std::fs::File::open(path)?;
                let size = file.metadata()?.len();
                if size > LARGEST_FILE {
                    bail!("{size} bytes: larger than the {LARGEST_FILE} that are read");
                }
                limited(file, size)
            }
            From::Wheel(path) => {
                let mut zip = open_wheel(path)?;
                let entry = zip.by_name(&self.path)?;
                let size = entry.size();
                if size > LARGEST_FILE {
                    bail!("claims {size} bytes: larger than the {LARGEST_FILE} that are read");
                }
                limited(entry, size)
            }
        }
    }
}

/// Not more than was claimed, and not less.
fn limited(from: impl Read, claimed: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(claimed + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != claimed {
        bail!("claims {claimed} bytes and has others");
    }
    Ok(bytes)
}

/// A venv or a prefix: where its packages are, and which build it is for.
#[derive(Debug)]
pub struct Environment {
    pub packages: PathBuf,
    pub build: Build,
    pub python: PathBuf,
}

/// `path` is a venv, a prefix, or an interpreter in one. Nothing is run.
pub fn environment(path: &Path) -> Result<Environment> {
    let root = if path.is_dir() {
        path.to_owned()
    } else {
        // Not canonical: a venv's interpreter is a link to another prefix.
        let bin = path.parent().context("an interpreter is in a folder")?;
        bin.parent().context("an interpreter is in the bin of a prefix")?.to_owned()
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join("lib"))
        .with_context(|| format!("{} has no lib: it is no environment", root.display()))?
    {
        let folder = entry?.path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let packages = folder.join("site-packages");
        let build = name.strip_prefix("python").and_then(|version| version.parse().ok());
        if let (Some(build), true) = (build, packages.is_dir()) {
            found.push((build, packages));
        }
    }
    match found.len() {
        0 => bail!(
            "{} has no lib/python3.*/site-packages: give a venv, an interpreter, a wheel, a folder \
             of wheels or a requirements file",
            root.display()
        ),
        1 => {}
        _ => bail!("{} has more than one lib/python3.*/site-packages", root.display()),
    }
    let (build, packages) = found.remove(0);
    let python = if path.is_dir() { root.join("bin/python") } else { path.to_owned() };
    Ok(Environment { packages, build, python })
}

/// What is installed in a folder of packages, by name.
pub fn installed(packages: &Path) -> Result<Vec<Distribution>> {
    let mut all = BTreeMap::new();
    let mut owned = BTreeSet::new();
    for entry in std::fs::read_dir(packages)? {
        let folder = entry?.path();
        if folder.extension().is_none_or(|e| e != "dist-info") {
            continue;
        }
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        let mut one = described(&text("METADATA"), &text("WHEEL"));
        if one.name.is_empty() {
            let stem = folder.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let (name, version) = stem.split_once('-').unwrap_or((&stem, ""));
            (one.name, one.version) = (name.into(), version.into());
        }
        for line in text("RECORD").lines() {
            let Some(path) = recorded(line) else { continue };
            let on_disk = packages.join(&path);
            let file = File::new(&path, From::Disk(on_disk.clone()));
            if let Some(file) = file.filter(|_| on_disk.is_file()) {
                owned.insert(on_disk);
                one.files.push(file);
            }
        }
        one.files.sort_by(|a, b| a.path.cmp(&b.path));
        all.insert(one.name.to_lowercase(), one);
    }
    // Extensions that no distribution records: built in place, or copied there.
    let mut rest = Distribution { name: "(no distribution)".into(), ..Default::default() };
    for entry in WalkDir::new(packages).sort_by_file_name() {
        let entry = entry?;
        if !entry.file_type().is_dir() && !owned.contains(entry.path()) {
            let path = entry.path().strip_prefix(packages)?.to_string_lossy().replace('\\', "/");
            rest.files.extend(File::new(&path, From::Disk(entry.path().to_owned())));
        }
    }
    let mut out: Vec<Distribution> = all.into_values().collect();
    if !rest.files.is_empty() {
        out.push(rest);
    }
    Ok(out)
}

/// The path in a line of RECORD, unless it leads out of the folder of packages.
fn recorded(line: &str) -> Option<String> {
    let path = match line.strip_prefix('"') {
        Some(rest) => rest.split_once("\",")?.0.replace("\"\"", "\""),
        None => line.split(',').next()?.to_owned(),
    };
    let leaves = path.starts_with('/') || path.split('/').any(|part| part == "..");
    (!leaves && !path.is_empty()).then_some(path)
}

fn described(metadata: &str, wheel: &str) -> Distribution {
    let values = |text: &str, key: &str| -> Vec<String> {
        let head = text.split("\n\n").next().unwrap_or_default();
        head.lines()
            .filter_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
            .map(|value| value.trim().to_owned())
            .collect()
    };
    let first = |key| values(metadata, key).into_iter().next().unwrap_or_default();
    Distribution {
        name: first("Name"),
        version: first("Version"),
        tags: values(wheel, "Tag").iter().filter_map(|line| WheelTag::of_line(line)).collect(),
        files: Vec::new(),
        classifiers: values(metadata, "Classifier"),
    }
}

fn open_wheel(path: &Path) -> Result<zip::ZipArchive<std::fs::File>> {
    let file = std::fs::File::open(path)?;
    let zip = zip::ZipArchive::new(file).context("it is no zip archive, or a damaged one")?;
    if zip.len() > MOST_ENTRIES {
        bail!("{} entries: more than the {MOST_ENTRIES} that are read", zip.len());
    }
    Ok(zip)
}

/// One wheel. Nothing is unpacked.
pub fn wheel(path: &Path) -> Result<Distribution> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let tag = WheelTag::of_wheel(&name).with_context(|| {
        format!("{name} is not named like a wheel: name-version-python-abi-platform.whl")
    })?;
    let mut zip = open_wheel(path)?;
    let (mut metadata, mut lines) = (String::new(), String::new());
    let mut files = Vec::new();
    for index in 0..zip.len() {
        let entry = zip.by_index(index)?;
        let absolute = entry.name().is_ok_and(|name| name.starts_with(['/', '\\']));
        if absolute || entry.enclosed_name().is_none() {
            let name = entry.name().unwrap_or_default();
            bail!("its entry {name:?} leads out of the folder it is unpacked to");
        }
        let path_in = entry.name().context("a name that is no text")?.into_owned();
        if entry.is_file() {
            files.extend(File::new(&path_in, From::Wheel(path.to_owned())));
        }
        let text = match path_in.split('/').collect::<Vec<_>>().as_slice() {
            [folder, "METADATA"] if folder.ends_with(".dist-info") => &mut metadata,
            [folder, "WHEEL"] if folder.ends_with(".dist-info") => &mut lines,
            _ => continue,
        };
        entry.take(LARGEST_TEXT).read_to_string(text)?;
    }
    let mut one = described(&metadata, &lines);
    if one.name.is_empty() {
        let mut parts = name.split('-');
        one.name = parts.next().unwrap_or_default().into();
        one.version = parts.next().unwrap_or_default().into();
    }
    // The file's name is what an installer goes by.
    one.tags = vec![tag];
    files.sort_by(|a, b| a.path.cmp(&b.path));
    one.files = files;
    Ok(one)
}

/// One extension file, as a distribution of its own.
pub fn extension(path: &Path) -> Result<Distribution> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = File::new(&name, From::Disk(path.to_owned()))
        .with_context(|| format!("{name} is not named like an extension: .so or .pyd"))?;
    Ok(Distribution { name, files: vec![file], ..Default::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_not_followed_out_of_the_packages() {
        assert_eq!(recorded("a/b.so,sha256=x,1").as_deref(), Some("a/b.so"));
        assert_eq!(recorded("\"a,b.so\",,").as_deref(), Some("a,b.so"));
        for leaves in ["../../bin/x.so,,", "/etc/x.so,,", "a/../../x.so,,", ""] {
            assert_eq!(recorded(leaves), None, "{leaves}");
        }
    }

    #[test]
    fn a_file_has_the_name_that_is_imported() {
        let of = |path| File::new(path, From::Disk("x".into())).map(|file| file.module);
        let own = of("pandas/_libs/lib.cpython-314t-x86_64-linux-gnu.so");
        assert_eq!(own.as_deref(), Some("pandas._libs.lib"));
        assert_eq!(of("_cffi_backend.so").as_deref(), Some("_cffi_backend"));
        let own = of("x-1.0.data/platlib/x/a.cpython-314t-x86_64-linux-gnu.so");
        assert_eq!(own.as_deref(), Some("x.a"));
        assert_eq!(of("numpy.libs/libopenblas.so"), None);
        assert_eq!(of("numpy/core/libx.so.3"), None);
    }
}
