//! The numbers of the book, from results/*.json.

use anyhow::{Context, Result, bail};
use lesson_kit::lesson;

use crate::bench::results::{Environment, Key, Results};
use crate::bench::usl;
use crate::{bench, paths};

/// Where a lesson was measured.
pub fn environment(results: &Results) -> String {
    let e = &results.environment;
    format!("{}, {} profile; {}", machine(e), e.profile, e.processes.join("; "))
}

/// Of what is not measured in rounds.
pub fn machine(e: &Environment) -> String {
    format!("{}, {} cores, {}, {}, commit {}", e.cpu, e.cores, e.kernel, e.date, e.commit)
}

/// A ratio of two points, each written variant/build/threads; of the first workload if none is named.
pub fn ratio(
    results: &Results,
    faster: &str,
    slower: &str,
    workload: Option<&str>,
) -> Result<String> {
    // Else the first workload of the lesson; points are sorted that way.
    let first = results.points.first().context("the results are empty")?;
    let workload = workload.unwrap_or(&first.key.workload).to_owned();
    let key = |text: &str| -> Result<Key> {
        let parts: Vec<&str> = text.split('/').collect();
        let [variant, build, threads] = parts[..] else { bail!("write variant/build/threads") };
        Ok(Key {
            variant: variant.into(),
            build: build.into(),
            workload: workload.clone(),
            threads: threads.parse()?,
        })
    };
    let (one, other) = (key(faster)?, key(slower)?);
    // Ratios are kept one way round: that of the lesson's after to everything else.
    let value = match bench::table::ratio_of(results, &one, &other) {
        Some(ratio) => ratio.value,
        None => {
            let back = bench::table::ratio_of(results, &other, &one);
            1.0 / back
                .with_context(|| format!("the results have no ratio of {faster} to {slower}"))?
                .value
        }
    };
    Ok(if value < 10.0 { format!("{value:.2}") } else { format!("{value:.0}") })
}

/// Every measured lesson's after: speed-up, serial share, and what both extremes of the law foretell.
pub fn scaling() -> Result<String> {
    let mut out = String::from(
        "| lesson | workload | measured | serial at most | 8 cores | 16 cores | 64 cores |\n\
         |---|---|--:|--:|--:|--:|--:|\n",
    );
    for lesson in lesson::all(paths::root())?.iter().filter(|one| one.measured()) {
        for line in usl::lines(&bench::reference(&lesson.name)?, &lesson.bench.after) {
            let measured: Vec<String> = line
                .measured
                .iter()
                .map(|(threads, value, [low, high])| {
                    format!("{value:.2} at {threads} ({low:.2} to {high:.2})")
                })
                .collect();
            out += &format!(
                "| {} | {} | {} | {:.1} to {:.1} % |",
                lesson.name,
                line.workload,
                measured.join(", "),
                line.serial[0] * 100.0,
                line.serial[1] * 100.0
            );
            for [low, high] in line.foretold {
                out += &format!(" {low:.1} to {high:.1} |");
            }
            out += "\n";
        }
    }
    Ok(out)
}

/// Collections a second, a line for each variant on each build.
pub fn collections(results: &Results, workload: &str) -> String {
    let points = results.points.iter().filter(|p| p.key.workload == workload);
    let points: Vec<_> = points.collect();
    let mut threads: Vec<usize> = points.iter().map(|p| p.key.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    let head: String = threads.iter().map(|count| format!(" {count} thr |")).collect();
    let mut out = format!("| collections a second | build |{head}\n|---|---|");
    out += &"--:|".repeat(threads.len());
    let mut seen = Vec::new();
    for point in &points {
        let line = (&point.key.variant, &point.key.build);
        if seen.contains(&line) {
            continue;
        }
        seen.push(line);
        out += &format!("\n| `{}` | {} |", line.0, line.1);
        for count in &threads {
            let at = points
                .iter()
                .find(|p| (&p.key.variant, &p.key.build) == line && p.key.threads == *count);
            out += &at.map_or(" |".into(), |p| format!(" {:.1} |", p.collections_per_s));
        }
    }
    out + "\n"
}
