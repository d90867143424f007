//! One model, told as a story if it fails.

use std::process::ExitCode;

use interp_model::{Build, trace};

use crate::lessons::LESSONS;

/// A model of a lesson: its name in lesson.toml, and what to run on a modelled build.
pub type Model = (&'static str, fn(Build));

pub fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["list"] => {
            for (lesson, models) in LESSONS {
                for (variant, _) in *models {
                    println!("{lesson} {variant}");
                }
            }
            ExitCode::SUCCESS
        }
        ["run", lesson, variant, build @ ("3.14" | "3.14t")] => {
            let found = LESSONS
                .iter()
                .filter(|(name, _)| *name == lesson)
                .flat_map(|(_, models)| models.iter())
                .find(|(name, _)| *name == variant);
            let Some((_, model)) = found else {
                eprintln!("{lesson} has no model {variant}; `models list` lists them");
                return ExitCode::from(2);
            };
            let build = if build == "3.14t" { Build::FreeThreaded } else { Build::Gil };
            tell_when_it_fails();
            model(build);
            let runs = trace::runs();
            println!("passes: none of {runs} orders fails\nafter {runs} orders");
            print!("{}", trace::example());
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("models list | models run <lesson> <variant> 3.14|3.14t");
            ExitCode::from(2)
        }
    }
}

/// The first panic is the finding. What follows it, while loom's threads unwind, is noise.
fn tell_when_it_fails() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.payload_as_str().unwrap_or("a panic without a text");
        let line = text.lines().next().unwrap_or_default();
        let outcome = match line {
            _ if line.starts_with("deadlock") => "deadlock",
            _ if line.starts_with("Causality violation") => "race",
            _ => "wrong-answer",
        };
        println!("{outcome}: {line}\nafter {} orders\n{}", trace::runs(), trace::story());
        std::process::exit(1);
    }));
}
