//! `cargo xtask copy <pattern> <folder>`: a pattern leaves the house, and says later whether it is
//! behind.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use lesson_kit::lesson::{self, Lesson};
use serde::Serialize;
use walkdir::WalkDir;

use crate::{bench, hash, house, paths};

#[derive(Args)]
pub struct Options {
    /// The pattern, by its lesson's name; with --check, the folder
    pattern: PathBuf,
    /// Your crate (the folder with Cargo.toml), or any other folder
    folder: Option<PathBuf>,
    /// Overwrite what is there
    #[arg(long)]
    force: bool,
    /// Say of every copy below the folder whether it is behind, and whether you changed it
    #[arg(long)]
    check: bool,
    /// One JSON object a line, of --check
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<()> {
    match (&options.folder, options.check) {
        (None, true) => check(&options.pattern, options.json),
        (Some(folder), false) => {
            let name = options.pattern.to_string_lossy();
            let lessons = lesson::all(paths::root())?;
            let lesson = lesson::find(&lessons, &name)?;
            let written = copy(lesson, folder, options.force)?;
            tell(lesson, &written)
        }
        (None, false) => {
            bail!("name the folder too: `cargo xtask copy import-cache ../my-extension`")
        }
        (Some(_), true) => bail!("--check takes one folder and no pattern"),
    }
}

/// A file to be written, and where it comes from.
struct Copy {
    from: PathBuf,
    to: PathBuf,
}

const VERSION: &str = env!("CARGO_PKG_VERSION");
const LICENCE: &str = "MIT OR Apache-2.0";
const MARK: &str = "Copied from ungil ";

/// Writes the pattern's files below `folder`; all of them or none. Gives their paths.
pub fn copy(lesson: &Lesson, folder: &Path, force: bool) -> Result<Vec<PathBuf>> {
    if lesson.copy.is_empty() {
        bail!("{} has no files to copy: its lesson.toml names none", lesson.name);
    }
    if !folder.is_dir() {
        bail!("{} is no folder", folder.display());
    }
    let copies = plan(lesson, folder)?;
    let there: Vec<String> = copies
        .iter()
        .filter(|copy| copy.to.exists())
        .map(|copy| copy.to.display().to_string())
        .collect();
    if !there.is_empty() && !force {
        bail!(
            "{} there already; --force overwrites:\n  {}",
            if there.len() == 1 { "this file is" } else { "these files are" },
            there.join("\n  ")
        );
    }
    // Read all before the first is written.
    let texts: Vec<String> =
        copies.iter().map(|copy| text_of(lesson, copy)).collect::<Result<_>>()?;
    for (copy, text) in copies.iter().zip(texts) {
        std::fs::create_dir_all(copy.to.parent().context("a file is in a folder")?)?;
        std::fs::write(&copy.to, text)?;
    }
    Ok(copies.into_iter().map(|copy| copy.to).collect())
}

/// `src/after.rs` gets the pattern's name; what stands beside it keeps its own.
fn plan(lesson: &Lesson, folder: &Path) -> Result<Vec<Copy>> {
    let source = paths::root().join("crates").join(&lesson.name);
    let a_crate = folder.join("Cargo.toml").is_file();
    let src = if a_crate { folder.join("src") } else { folder.to_owned() };
    let name = module(lesson);
    let mut copies = Vec::new();
    for named in &lesson.copy {
        let from = source.join(named);
        let files = WalkDir::new(&from).sort_by_file_name().into_iter();
        for entry in files {
            let entry = entry.with_context(|| format!("{} of {}", named, lesson.name))?;
            if !entry.file_type().is_file() {
                continue;
            }
            let inside = entry.path().strip_prefix(&source)?.to_owned();
            let to = match inside.strip_prefix("src") {
                Ok(rest) => {
                    let renamed = rest.to_string_lossy().replacen("after", &name, 1);
                    src.join(renamed)
                }
                Err(_) => folder.join(&inside),
            };
            copies.push(Copy { from: entry.into_path(), to });
        }
    }
    Ok(copies)
}

fn module(lesson: &Lesson) -> String {
    lesson.name.replace('-', "_")
}

/// The source as it is copied, without the header.
fn body(lesson: &Lesson, from: &Path) -> Result<String> {
    let text = std::fs::read_to_string(from)?;
    let lines = text.lines().filter(|line| !line.contains("ANCHOR"));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    // A build.rs names the folder of the C files.
    Ok(text.replace("src/after", &format!("src/{}", module(lesson))))
}

fn text_of(lesson: &Lesson, copy: &Copy) -> Result<String> {
    let body = body(lesson, &copy.from)?;
    let sign =
        if copy.from.extension().is_some_and(|e| e == "py" || e == "toml") { "#" } else { "//" };
    let from = copy.from.strip_prefix(paths::root())?.display();
    let commit = bench::said("git", &["rev-parse", "--short", "HEAD"]);
    let hash = hash::text(&body);
    Ok(format!(
        "{sign} {MARK}{VERSION}, commit {commit}: {from}\n\
         {sign} Licence: {LICENCE}. `cargo xtask copy --check` compares: {}\n{body}",
        &hash[..16]
    ))
}

fn tell(lesson: &Lesson, written: &[PathBuf]) -> Result<()> {
    for path in written {
        println!("wrote  {}", path.display());
    }
    for (table, needs) in
        [("dependencies", &lesson.copy_needs), ("build-dependencies", &lesson.copy_build_needs)]
    {
        if !needs.is_empty() {
            println!("\nadd to [{table}]:");
        }
        for line in house::dependencies(needs)? {
            print!("  {line}");
        }
    }
    println!("\nadd to lib.rs:");
    for path in written.iter().filter(|path| path.extension().is_some_and(|e| e == "rs")) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let parent = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        match (&*stem, parent == "src" || parent != module(lesson)) {
            ("build", _) => {}
            ("mod", _) => println!("  mod {};", module(lesson)),
            (_, true) => println!("  mod {stem};"),
            _ => {}
        }
    }
    let readme = paths::root().join("crates").join(&lesson.name).join("README.md");
    let readme = std::fs::read_to_string(readme)?;
    for part in ["**What to change.**", "**What it demands.**"] {
        if let Some(at) = readme.find(part) {
            let text = readme[at..].split("\n\n").next().unwrap_or_default();
            println!("\n{}", text.replace("**", ""));
        }
    }
    Ok(())
}

/// What became of one copied file.
#[derive(Serialize)]
struct State {
    file: String,
    from: String,
    commit: String,
    /// The source has changed since.
    behind: bool,
    /// The copy has been changed.
    changed: bool,
}

fn check(folder: &Path, json: bool) -> Result<()> {
    let lessons = lesson::all(paths::root())?;
    let mut states = Vec::new();
    let skip = |name: &std::ffi::OsStr| name == "target" || name == ".git";
    for entry in
        WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(|e| !skip(e.file_name()))
    {
        let entry = entry?;
        if !entry.file_type().is_file() {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(entry.path()) else { continue };
        if let Some(state) = state(&lessons, entry.path(), &text)? {
            states.push(state);
        }
    }
    if states.is_empty() {
        bail!("{} has no file that was copied by `cargo xtask copy`", folder.display());
    }
    for state in &states {
        if json {
            println!("{}", serde_json::to_string(state)?);
            continue;
        }
        let word = match (state.behind, state.changed) {
            (false, false) => "as copied",
            (false, true) => "changed by you",
            (true, false) => "BEHIND",
            (true, true) => "BEHIND, and changed by you",
        };
        println!("{}: {word} ({}, commit {})", state.file, state.from, state.commit);
    }
    let behind = states.iter().filter(|state| state.behind).count();
    if behind > 0 {
        bail!(
            "{behind} of {} copied files are behind: copy them again with --force, or merge",
            states.len()
        );
    }
    Ok(())
}

/// `None` for a file that was not copied from here.
fn state(lessons: &[Lesson], path: &Path, text: &str) -> Result<Option<State>> {
    let mut lines = text.splitn(3, '\n');
    let (Some(first), Some(second), Some(rest)) = (lines.next(), lines.next(), lines.next()) else {
        return Ok(None);
    };
    let Some((_, origin)) = first.split_once(MARK) else { return Ok(None) };
    let parts = origin.split_once(", commit ").and_then(|(_, rest)| rest.split_once(": "));
    let (commit, from) = parts.with_context(|| {
        format!("{}: its first line is no longer as it was written", path.display())
    })?;
    let copied = second.rsplit(' ').next().unwrap_or_default();
    let lesson = from.split('/').nth(1).context("a path of the workspace")?;
    // A pattern that is gone is behind too.
    let now = lesson::find(lessons, lesson)
        .ok()
        .and_then(|lesson| body(lesson, &paths::root().join(from)).ok())
        .map(|body| hash::text(&body));
    Ok(Some(State {
        file: path.display().to_string(),
        from: from.to_owned(),
        commit: commit.to_owned(),
        behind: now.is_none_or(|now| !now.starts_with(copied)),
        changed: !hash::text(rest).starts_with(copied),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lessons() -> Vec<Lesson> {
        lesson::all(paths::root()).unwrap()
    }

    #[test]
    fn a_copy_is_as_copied_until_somebody_changes_it() {
        let lessons = lessons();
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("Cargo.toml"), "").unwrap();
        let lesson = lesson::find(&lessons, "import-cache").unwrap();
        let written = copy(lesson, dir.path(), false).unwrap();
        let file = dir.path().join("src/import_cache.rs");
        assert_eq!(written, std::slice::from_ref(&file));
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("// Copied from ungil ") && text.contains(LICENCE), "{text}");
        assert!(!text.contains("ANCHOR"));
        let of = |text: &str| state(&lessons, &file, text).unwrap().unwrap();
        assert!(!of(&text).behind && !of(&text).changed);
        assert!(of(&format!("{text}// mine\n")).changed);
        // As if another source had been copied.
        let (head, hash) = text.lines().nth(1).unwrap().rsplit_once(' ').unwrap();
        let other = text.replace(&format!("{head} {hash}"), &format!("{head} 0000000000000000"));
        assert!(of(&other).behind);
        assert!(state(&lessons, &file, "fn own() {}\n\n\n").unwrap().is_none());
    }

    #[test]
    fn nothing_is_overwritten_unless_it_is_asked_for() {
        let lessons = lessons();
        let dir = tempfile::tempdir().unwrap();
        let lesson = lesson::find(&lessons, "detach-before-block").unwrap();
        std::fs::write(dir.path().join("checked.rs"), "mine").unwrap();
        let error = copy(lesson, dir.path(), false).unwrap_err().to_string();
        assert!(error.contains("checked.rs") && error.contains("--force"), "{error}");
        // Not the other file of the pattern either.
        assert!(!dir.path().join("detach_before_block.rs").exists());
        assert_eq!(std::fs::read_to_string(dir.path().join("checked.rs")).unwrap(), "mine");
        copy(lesson, dir.path(), true).unwrap();
        assert_ne!(std::fs::read_to_string(dir.path().join("checked.rs")).unwrap(), "mine");
    }

    #[test]
    fn a_build_script_names_the_copied_folder() {
        let lessons = lessons();
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("Cargo.toml"), "").unwrap();
        copy(lesson::find(&lessons, "string-fast-path").unwrap(), dir.path(), false).unwrap();
        let text = std::fs::read_to_string(dir.path().join("build.rs")).unwrap();
        assert!(text.contains("src/string_fast_path/strings.c") && !text.contains("src/after"));
        assert!(dir.path().join("src/string_fast_path/strings.c").is_file());
    }
}
