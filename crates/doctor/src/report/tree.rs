//! For people: the culprits first, 80 columns.

use std::fmt::Write;

use crate::probe::Import;
use crate::scan::Report;
use crate::verdict::{Judged, Status, count};

const WIDTH: usize = 80;

pub fn render(report: &Report, all: bool) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(format!("{} on {}", report.target, report.build));
    if let Some(build) = report.environment.filter(|build| !build.free_threaded) {
        line(wrap(
            "! ",
            &format!(
                "this environment is for {build}, a GIL-enabled build: it runs with the GIL \
                 whatever is installed. Make one with {} and install the same there, or give a \
                 requirements file.",
                report.build
            ),
        ));
    }
    match report.forced.as_deref() {
        Some("0") => line(wrap(
            "! ",
            "PYTHON_GIL=0 or -X gil=0 is set: the GIL is forced off, which is not the same as off. What turns \
             it on for others is not seen in such a process.",
        )),
        Some("1") => line(wrap(
            "! ",
            "PYTHON_GIL=1 or -X gil=1 is set: the GIL is on, whatever is imported.",
        )),
        _ => {}
    }
    match (&report.imported_with, &report.not_imported) {
        (Some(python), _) => line(wrap("  ", &format!("read, and imported with {python}"))),
        (None, Some(why)) => line(wrap("  ", &format!("read only; not imported: {why}"))),
        _ => line("  read only; nothing was imported".into()),
    }
    let mut shown: Vec<&Judged> = report.distributions.iter().collect();
    shown.sort_by(|a, b| b.status.cmp(&a.status).then_with(|| a.name.cmp(&b.name)));
    let free = shown.iter().filter(|one| one.status == Status::Free).count();
    let pure = shown.iter().filter(|one| one.status == Status::Pure).count();
    if !all {
        shown.retain(|one| one.status > Status::Free);
    }
    for one in shown {
        distribution(&mut line, one);
    }
    for (name, why) in &report.failed {
        line(wrap("? ", &format!("{name}: {why}")));
    }
    line(format!("  {free} declare all their extensions, {pure} have none"));
    line(verdict(report));
    out
}

fn distribution(line: &mut impl FnMut(String), one: &Judged) {
    let (mark, word) = match one.status {
        Status::TurnsOn => ("x ", "turns the GIL on"),
        Status::CannotLoad => ("x ", "cannot be loaded"),
        Status::CannotTell => ("? ", "cannot tell"),
        Status::Fallback => ("! ", "is the slow, pure-Python one"),
        Status::Free => ("  ", "declares"),
        Status::Pure => ("  ", "pure Python"),
    };
    line(wrap(mark, &format!("{} {}: {word}", one.name, one.version)));
    let mut told = 0;
    for note in &one.notes {
        told += 1;
        if told > 6 {
            line(format!("    and {} more: --json lists them", one.notes.len() - 6));
            break;
        }
        line(wrap("  |- ", &note.text));
    }
    for extension in &one.extensions {
        let Some(Import::TurnsOn { chain }) = &extension.imported else { continue };
        if !chain.is_empty() {
            let way = format!("{} -> {} <- here", chain.join(" -> "), extension.module);
            line(wrap("  |- ", &format!("imported by: {way}")));
        }
    }
}

fn verdict(report: &Report) -> String {
    let with = |status| report.distributions.iter().filter(|one| one.status == status).count();
    match report.exit_code() {
        0 => format!("The GIL stays off on {}.", report.build),
        1 => {
            let on = with(Status::TurnsOn);
            let mut text = String::from("It would run with the GIL");
            if on > 0 {
                let _ = write!(text, ": {} would turn it on", count(on, "distribution"));
            }
            text + "."
        }
        _ => format!(
            "Not checked: {} cannot be told. This is not the same as clean.",
            count(with(Status::CannotTell) + report.failed.len(), "distribution")
        ),
    }
}

/// Breaks at blanks; the second line and the others are indented as the text of the first.
fn wrap(head: &str, text: &str) -> String {
    let mut out = String::from(head);
    let mut column = head.len();
    for (k, word) in text.split_whitespace().enumerate() {
        let width = word.chars().count();
        if k > 0 && column + 1 + width > WIDTH {
            let _ = write!(out, "\n{}", " ".repeat(head.len()));
            column = head.len();
        } else if k > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn a_line_is_broken_before_column_80() {
        let text = wrap("  |- ", &"word ".repeat(40));
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("     word")), "{text}");
    }
}
