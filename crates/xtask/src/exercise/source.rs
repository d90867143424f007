//! The sources of an exercise: what a learner gets is derived from the solution.
//!
//! ```text
//! // SOLUTION fast-path
//! let object = self.object.load(Ordering::Acquire);
//! // STARTER
//! // let object = self.object.load(Ordering::Relaxed);
//! // END
//! ```
//!
//! A wrong answer is a file of such blocks without their STARTER part; each stands in the place of the
//! solution's block of that name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::text::Exercise;

/// Which text of an exercise.
#[derive(Clone, Copy, Debug)]
pub enum View<'a> {
    Starter,
    Solution,
    Wrong(&'a str),
}

/// A file's name and its text.
pub type Files = Vec<(String, String)>;

impl Exercise {
    /// The sources as a learner, the solution or a wrong answer has them.
    pub fn files(&self, view: View) -> Result<Files> {
        let mut files = Vec::new();
        let mut instead = match view {
            View::Wrong(name) => {
                let file = format!("wrong/{name}.{}", self.extension());
                let text = std::fs::read_to_string(self.folder().join(&file)).context(file)?;
                replacements(&text)?
            }
            _ => BTreeMap::new(),
        };
        for (name, text) in self.sources()? {
            let mut out = String::new();
            for part in parts(&text).with_context(|| format!("solution/{name}"))? {
                out += &match (&part, view) {
                    (Part::Plain(text), _) => text.clone(),
                    (Part::Block { starter, .. }, View::Starter) => starter.clone(),
                    (Part::Block { solution, .. }, View::Solution) => solution.clone(),
                    (Part::Block { name, solution, .. }, View::Wrong(_)) => {
                        instead.remove(name).unwrap_or_else(|| solution.clone())
                    }
                };
            }
            files.push((name, out));
        }
        if let Some(unknown) = instead.keys().next() {
            bail!("no block {unknown:?} in the solution of {}", self.name);
        }
        Ok(files)
    }

    /// The solution's files as they are written, with their markers.
    pub fn sources(&self) -> Result<Files> {
        let place = self.folder().join("solution");
        let mut names: Vec<String> = std::fs::read_dir(&place)
            .with_context(|| format!("no folder solution in {}", self.name))?
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            .collect();
        names.sort();
        let read = |name: String| -> Result<(String, String)> {
            let text = std::fs::read_to_string(place.join(&name))?;
            Ok((name, text))
        };
        names.into_iter().map(read).collect()
    }
}

/// Code without its comments, so that a pattern is not met by a remark.
pub fn code_of(folder: &Path, extension: &str) -> String {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> =
        files.map(|f| f.path()).filter(|p| p.extension().is_some_and(|e| e == extension)).collect();
    paths.sort();
    let texts = paths.iter().filter_map(|path| std::fs::read_to_string(path).ok());
    texts.map(|text| text.lines().map(|l| uncommented(l) + "\n").collect::<String>()).collect()
}

fn uncommented(line: &str) -> String {
    line.split("//").next().unwrap_or_default().to_owned()
}

/// A source, cut at its markers.
#[derive(Debug, PartialEq)]
pub enum Part {
    Plain(String),
    Block { name: String, solution: String, starter: String },
}

pub fn parts(text: &str) -> Result<Vec<Part>> {
    let mut parts = vec![Part::Plain(String::new())];
    let mut inside: Option<(String, String, String, bool)> = None;
    for (number, line) in text.lines().enumerate() {
        let bare = line.trim();
        let refuse = |what: &str| -> Result<()> { bail!("line {}: {what}", number + 1) };
        if let Some(name) = bare.strip_prefix("// SOLUTION ") {
            if inside.is_some() {
                refuse("SOLUTION inside a block")?;
            }
            inside = Some((name.to_owned(), String::new(), String::new(), false));
        } else if bare == "// STARTER" {
            match &mut inside {
                Some((.., started)) if !*started => *started = true,
                _ => refuse("STARTER without its SOLUTION")?,
            }
        } else if bare == "// END" {
            let Some((name, solution, starter, _)) = inside.take() else {
                return refuse("END without its SOLUTION").map(|()| parts);
            };
            parts.push(Part::Block { name, solution, starter });
            parts.push(Part::Plain(String::new()));
        } else if let Some((_, solution, starter, started)) = &mut inside {
            if *started {
                *starter += &(starter_line(line) + "\n");
            } else {
                *solution += &format!("{line}\n");
            }
        } else if let Some(Part::Plain(plain)) = parts.last_mut() {
            *plain += &format!("{line}\n");
        }
    }
    if let Some((name, ..)) = inside {
        bail!("the block {name:?} has no END");
    }
    Ok(parts)
}

/// A starter's line lies in a comment at the indentation of the code.
fn starter_line(line: &str) -> String {
    let bare = line.trim_start();
    let indent = &line[..line.len() - bare.len()];
    let code = bare.strip_prefix("// ").or_else(|| bare.strip_prefix("//")).unwrap_or(bare);
    if code.is_empty() { String::new() } else { format!("{indent}{code}") }
}

/// The blocks of a wrong answer.
fn replacements(text: &str) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for part in parts(text)? {
        match part {
            Part::Block { name, solution, .. } => {
                found.insert(name, solution);
            }
            Part::Plain(text) => {
                if text.lines().any(|l| !l.trim().is_empty() && !l.starts_with("//")) {
                    bail!("a wrong answer has code outside its blocks: {text}");
                }
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a();\n    // SOLUTION one\n    b(1);\n    // STARTER\n    // b(2);\n    \
                        // // TODO: which?\n    // END\nc();\n";

    #[test]
    fn a_starter_and_a_solution_are_one_text() {
        let found = parts(TEXT).unwrap();
        assert_eq!(found.len(), 3);
        let Part::Block { name, solution, starter } = &found[1] else { panic!("{found:?}") };
        assert_eq!((name.as_str(), solution.as_str()), ("one", "    b(1);\n"));
        assert_eq!(starter, "    b(2);\n    // TODO: which?\n");
    }

    #[test]
    fn markers_that_do_not_match_are_refused() {
        for (text, says) in [
            ("// SOLUTION a\n", "no END"),
            ("// END\n", "END without"),
            ("// STARTER\n", "STARTER without"),
            ("// SOLUTION a\n// SOLUTION b\n", "inside a block"),
        ] {
            let error = parts(text).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        assert!(replacements("code();\n").is_err());
    }

    #[test]
    fn a_remark_is_no_code_and_no_other_file_is() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("lib.rs"), "call(); // not store()\n// nor load()\n")
            .unwrap();
        std::fs::write(dir.path().join("notes.txt"), "lock()").unwrap();
        assert_eq!(code_of(dir.path(), "rs"), "call(); \n\n");
    }
}
