//! Which build takes which file, and which wheel an installer takes: tried, not deduced.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use anyhow::{Context, Result};

use super::BUILDS;
use super::build::{self, Wheel};
use crate::python::Env;
use crate::{paths, python, sh};

type Table = BTreeMap<String, BTreeMap<String, String>>;

const LIMIT: Duration = Duration::from_secs(60);

/// Imports, uses what it imported, and says what became of the GIL.
const IMPORT: &str = "
import importlib, sys
module = importlib.import_module(sys.argv[1])
if sys.argv[1] == 'single':
    assert module.answer() == 42
else:
    assert module.utf8_lengths(['a', 'b' * 3]) == [1, 3]
    assert module.Counter().count(b'x\\n') == 1
print('imported' + (', GIL ' + ('ON' if sys._is_gil_enabled() else 'off') if sys.abiflags else ''))
";

/// Each extension file alone in a folder, on each build.
pub fn files(wheels: &[Wheel], envs: &[(&str, Env)]) -> Result<Table> {
    let mut table = Table::new();
    let own = |name: &str| -> Result<(String, &Path)> {
        let wheel = build::named(wheels, name)?;
        let file = wheel.extension.file_name().context("a file has a name")?;
        Ok((file.to_string_lossy().into_owned(), &wheel.extension))
    };
    let mut rows = Vec::new();
    for name in ["abi3", "cp314", "cp314t", "abi3t"] {
        let (file, path) = own(name)?;
        rows.push((file.clone(), file, path));
    }
    let (file, path) = own("undeclared")?;
    rows.push((format!("{file}, which says nothing"), file, path));
    rows.push(("_native.so, compiled as abi3".into(), "_native.so".into(), own("abi3")?.1));
    let single = single_phase(envs)?;
    let path = single.path().join("single.abi3.so");
    rows.push(("single.abi3.so, single-phase".into(), "single.abi3.so".into(), &path));
    for (row, file, path) in rows {
        let mut outcomes = BTreeMap::new();
        for (build, env) in envs {
            let folder = tempfile::tempdir()?;
            std::fs::copy(path, folder.path().join(&file))?;
            let mut command = env.command();
            let module = file.split('.').next().unwrap_or_default();
            command.args(["-c", IMPORT, module]).env("PYTHONPATH", folder.path());
            outcomes.insert((*build).to_owned(), words(&sh::output_within(&mut command, LIMIT)?));
        }
        table.insert(row, outcomes);
    }
    Ok(table)
}

/// The C extension beside this file, by the headers of 3.14.
fn single_phase(envs: &[(&str, Env)]) -> Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let (_, env) = envs.iter().find(|(build, _)| *build == "3.14").context("of the list")?;
    let code = "import sysconfig; print(sysconfig.get_path('include'), end='')";
    let include = sh::run(env.command().args(["-c", code]))?;
    let include = String::from_utf8(include.stdout)?;
    sh::run(
        Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()))
            .args(["-shared", "-fPIC", "-O2", &format!("-I{include}"), "-o"])
            .arg(folder.path().join("single.abi3.so"))
            .arg(paths::root().join("crates/xtask/src/wheels/single_phase.c")),
    )?;
    Ok(folder)
}

fn words(output: &Output) -> String {
    if let Some(signal) = output.status.signal() {
        return format!("crashes (signal {signal})");
    }
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        return said.trim().to_owned();
    }
    let error = String::from_utf8_lossy(&output.stderr);
    let last = error.lines().last().unwrap_or("nothing").trim();
    // 3.15 adds which file it saw and did not try.
    if last.starts_with("ModuleNotFoundError: No module named") {
        return "not tried".into();
    }
    format!("refused: {}", last.trim_start_matches("SystemError: "))
}

/// Which wheel an installer takes, offered several.
pub fn installers(wheels: &[Wheel], envs: &[(&str, Env)]) -> Result<Table> {
    let older = tempfile::tempdir()?;
    let pure = pure_wheel(older.path())?;
    let file = |name: &str| build::named(wheels, name).map(|wheel| wheel.file.clone());
    let offers = [
        ("all four", vec![file("abi3")?, file("cp314")?, file("cp314t")?, file("abi3t")?]),
        ("abi3 only", vec![file("abi3")?]),
        ("abi3 and a pure wheel of an older version", vec![file("abi3")?, pure]),
    ];
    let mut table = Table::new();
    for (row, offered) in offers {
        let folder = tempfile::tempdir()?;
        for wheel in &offered {
            std::fs::copy(wheel, folder.path().join(wheel.file_name().context("a name")?))?;
        }
        let mut outcomes = BTreeMap::new();
        for build in BUILDS {
            let (_, env) = envs.iter().find(|(own, _)| *own == build).context("of the list")?;
            outcomes.insert(build.to_owned(), taken(env, folder.path())?);
        }
        table.insert(row.into(), outcomes);
    }
    Ok(table)
}

/// The tags of the wheel that uv installs, by the WHEEL file that it leaves.
fn taken(env: &Env, offered: &Path) -> Result<String> {
    let target = tempfile::tempdir()?;
    let mut command = python::uv()?;
    command
        .args(["pip", "install", "--no-index", "--no-deps", "--only-binary", ":all:", "--python"])
        .arg(env.python())
        .arg("--find-links")
        .arg(offered)
        .arg("--target")
        .arg(target.path())
        .arg("fastlines");
    let output = sh::output_within(&mut command, LIMIT)?;
    if !output.status.success() {
        return Ok("none".into());
    }
    for entry in std::fs::read_dir(target.path())? {
        let folder = entry?.path();
        let Ok(text) = std::fs::read_to_string(folder.join("WHEEL")) else { continue };
        let mut tags: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("Tag: ")).collect();
        tags.sort_unstable();
        let short = |tag: &str| tag.rsplitn(2, '-').last().unwrap_or(tag).to_owned();
        let mut short: Vec<String> = tags.into_iter().map(short).collect();
        short.dedup();
        let older = if folder.to_string_lossy().contains("-0.0.1") { " (older)" } else { "" };
        let name = match short.as_slice() {
            [a, b] if a == "cp315-abi3" && b == "cp315-abi3t" => "cp315-abi3.abi3t".to_owned(),
            _ => short.join(", "),
        };
        return Ok(name + older);
    }
    Ok("none".into())
}

/// A version 0.0.1 without an extension: what many projects once published.
fn pure_wheel(folder: &Path) -> Result<std::path::PathBuf> {
    let code = "
import sys, zipfile
name = sys.argv[1] + '/fastlines-0.0.1-py3-none-any.whl'
files = {
    'fastlines/__init__.py': 'def utf8_lengths(texts):\\n    return [len(t.encode()) for t in texts]\\n',
    'fastlines-0.0.1.dist-info/METADATA': 'Metadata-Version: 2.1\\nName: fastlines\\nVersion: 0.0.1\\n',
    'fastlines-0.0.1.dist-info/WHEEL': 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n',
}
record = ''.join(name + ',,\\n' for name in files)
files['fastlines-0.0.1.dist-info/RECORD'] = record + 'fastlines-0.0.1.dist-info/RECORD,,\\n'
with zipfile.ZipFile(name, 'w') as wheel:
    for path, text in files.items():
        wheel.writestr(path, text)
print(name, end='')
";
    let output = sh::run(Command::new("python3").args(["-c", code]).arg(folder))?;
    Ok(String::from_utf8(output.stdout)?.into())
}
