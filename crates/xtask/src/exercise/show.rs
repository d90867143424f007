//! What a learner reads of a check.

use anyhow::Result;
use lesson_kit::lesson::Outcome;

use super::check::Told;

pub fn show(told: &Told, json: bool) -> Result<()> {
    if json {
        println!("{}", serde_json::to_string(told)?);
        return Ok(());
    }
    let mark = if told.ok { "ok  " } else { "FAIL" };
    println!("{mark} {:<6} {}", told.build, told.property);
    if told.ok {
        return Ok(());
    }
    // A compiler's later errors follow from its first.
    const LINES: usize = 30;
    let text = if told.outcome == Outcome::Hang { standing(&told.text) } else { told.text.clone() };
    for line in text.lines().take(LINES) {
        println!("     {line}");
    }
    let more = text.lines().count().saturating_sub(LINES);
    if more > 0 {
        println!("     ... and {more} lines more, with --json");
    }
    if let Some(says) = &told.says {
        println!();
        for line in says.lines() {
            println!("     {line}");
        }
    }
    println!();
    Ok(())
}

/// Where each thread of a hang stands: of its stack, the innermost frame that is not the library's.
fn standing(text: &str) -> String {
    let mut out = String::new();
    let mut thread = None;
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once(" [").filter(|_| line.starts_with("Thread 0x")) {
            thread = Some(rest.split(']').next().unwrap_or_default().to_owned());
        } else if line.starts_with("Thread 0x") || line.starts_with("Current thread 0x") {
            thread = Some("main".to_owned());
        } else if let Some(frame) = line.trim().strip_prefix("File \"") {
            let library = frame.contains("/threading.py\"");
            if let Some(name) = thread.take_if(|_| !library) {
                let file = frame.split('/').next_back().unwrap_or(frame).replacen('"', "", 1);
                out += &format!("{name} stands in {file}\n");
            }
        } else if !line.trim().is_empty() && !line.starts_with("thread ") {
            out += &format!("{line}\n");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_hang_it_is_told_where_each_thread_stands() {
        let text = "no end within 6 s\nthread 7 \"python\" state S in futex\nThread 0x0007 [Thread-1 \
                    (run)] (most recent call first):\n  File \"/lib/threading.py\", line 3 in wait\n  \
                    File \"/x/check.py\", line 20 in work\n  File \"/x/check.py\", line 9 in other\n\n\
                    Thread 0x0008 (most recent call first):\n  File \"/x/check.py\", line 1 in f\n";
        assert_eq!(
            standing(text),
            "no end within 6 s\nThread-1 (run) stands in check.py, line 20 in work\nmain stands in \
             check.py, line 1 in f\n"
        );
    }
}
