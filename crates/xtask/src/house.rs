//! Folders of crates outside the workspace, built with its dependencies and its lock file.

use std::path::Path;

use anyhow::{Context, Result};

use crate::paths;

/// The manifest and the lock file of a workspace of `members` in `folder`. The lock file is the
/// project's, so that the same versions are compiled.
pub fn workspace(folder: &Path, members: &[String]) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let quoted: Vec<String> = members.iter().map(|name| format!("{name:?}")).collect();
    let text = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [{}]\n\n[profile.dev]\ndebug = \
         \"line-tables-only\"\n\n[profile.dev.package.\"*\"]\ndebug = false\n",
        quoted.join(", ")
    );
    write(&folder.join("Cargo.toml"), &text)?;
    let lock = folder.join("Cargo.lock");
    if !lock.exists() {
        std::fs::copy(paths::root().join("Cargo.lock"), lock)?;
    }
    Ok(())
}

/// Lines for `[dependencies]`, of names that the workspace shares.
///
/// # Errors
/// For a name that is not among them.
pub fn dependencies(names: &[String]) -> Result<Vec<String>> {
    let file = paths::root().join("Cargo.toml");
    let workspace: toml::Table = toml::from_str(&std::fs::read_to_string(file)?)?;
    let known = &workspace["workspace"]["dependencies"];
    let line = |name: &String| -> Result<String> {
        let wanted = known
            .get(name)
            .with_context(|| format!("{name} is not among the workspace's dependencies"))?;
        Ok(format!("{name} = {wanted}\n"))
    };
    names.iter().map(line).collect()
}

/// Only if it differs, so that nothing is compiled again for the sake of a date.
pub fn write(path: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|have| have == text) {
        return Ok(());
    }
    std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}
