//! The solution, with carets under what the starter did not have.

use similar::{ChangeTag, TextDiff};

use super::source::{Part, parts};
use super::text::Exercise;

/// The changed blocks of each file, each with a few lines around it.
pub fn solution(one: &Exercise) -> anyhow::Result<String> {
    let mut out = String::new();
    for (file, text) in one.sources()? {
        let mut shown = String::new();
        for part in parts(&text)? {
            match part {
                Part::Plain(text) => shown += &text,
                Part::Block { solution, starter, .. } => shown += &marked(&starter, &solution),
            }
        }
        out += &format!("--- {file}\n{shown}");
    }
    Ok(out)
}

/// The lines of `new`, with carets under the words that `old` does not have there.
fn marked(old: &str, new: &str) -> String {
    let diff = TextDiff::from_words(old, new);
    let (mut out, mut line, mut carets) = (String::new(), String::new(), String::new());
    let end = |out: &mut String, line: &mut String, carets: &mut String| {
        *out += &format!("{line}\n");
        if carets.contains('^') {
            *out += &format!("{}\n", carets.trim_end());
        }
        line.clear();
        carets.clear();
    };
    for change in diff.iter_all_changes().filter(|one| one.tag() != ChangeTag::Delete) {
        for letter in change.value().chars() {
            if letter == '\n' {
                end(&mut out, &mut line, &mut carets);
                continue;
            }
            line.push(letter);
            let new = change.tag() == ChangeTag::Insert && !letter.is_whitespace();
            carets.push(if new { '^' } else { ' ' });
        }
    }
    if !line.is_empty() {
        end(&mut out, &mut line, &mut carets);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_stand_under_what_is_new_and_nothing_else() {
        let shown =
            marked("    let x = load(Relaxed);\n", "    let x = load(Acquire);\n    y();\n");
        assert_eq!(
            shown,
            "    let x = load(Acquire);\n            ^^^^^^^^^^^^^^\n    y();\n    ^^^^\n"
        );
        assert_eq!(marked("a\n", "a\n"), "a\n");
    }
}
