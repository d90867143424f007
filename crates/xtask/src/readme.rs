//! The measured table of README.md: written from the reference results, never by hand.

use anyhow::{Context, Result, bail};
use lesson_kit::lesson;

use crate::bench::{self, table};
use crate::paths;

const START: &str = "<!-- measured: start -->\n";
const END: &str = "<!-- measured: end -->";

/// Writes the table into README.md, or with `check` only says whether it is the current one.
pub fn table(check: bool) -> Result<()> {
    let file = paths::root().join("README.md");
    let text = std::fs::read_to_string(&file)?;
    let (head, rest) = text.split_once(START).context("README.md has lost its start mark")?;
    let (_, tail) = rest.split_once(END).context("README.md has lost its end mark")?;
    let wanted = format!("{head}{START}{}{END}{tail}", markdown()?);
    if wanted == text {
        return Ok(());
    }
    if check {
        bail!("the table in README.md is not that of results/; run `cargo xtask book --readme`");
    }
    Ok(std::fs::write(file, wanted)?)
}

fn markdown() -> Result<String> {
    let lessons = lesson::all(paths::root())?;
    let lesson = lesson::find(&lessons, "udf-in-process")?;
    let results = bench::reference(&lesson.name)?;
    let mut out = String::from(
        "| way | build | threads | rows/s | against itself on 1 thread | in-process is |\n\
         |---|---|---:|---:|---:|---:|\n",
    );
    for point in results.points.iter().filter(|point| point.key.workload == "ints") {
        let ratio = |r: Option<&bench::results::Ratio>| {
            r.map_or(String::new(), |r| format!("{:.2}x", r.value))
        };
        out += &format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            point.key.variant,
            point.key.build,
            point.key.threads,
            table::rate(point.rows_per_s),
            ratio(table::scaling(&results, point)),
            ratio(table::after_over(lesson, &results, point)),
        );
    }
    let e = &results.environment;
    out += &format!(
        "\n{}, {} cores, {}, {}, commit {}. {}. `cargo xtask bench udf-in-process` makes yours.\n",
        e.cpu,
        e.cores,
        e.kernel,
        e.date,
        e.commit,
        e.processes.join("; ")
    );
    Ok(out)
}
