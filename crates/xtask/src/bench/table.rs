//! Results as text, within 80 columns.

use lesson_kit::lesson::Lesson;

use super::results::{Key, Point, Ratio, Results};

/// A number of rows a second, to three digits.
pub fn rate(rows_per_s: f64) -> String {
    match rows_per_s {
        r if r >= 1e10 => format!("{:.1} G/s", r / 1e9),
        r if r >= 1e7 => format!("{:.1} M/s", r / 1e6),
        r if r >= 1e6 => format!("{:.2} M/s", r / 1e6),
        r if r >= 1e4 => format!("{:.0} k/s", r / 1e3),
        r => format!("{r:.0} /s"),
    }
}

pub fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

/// Microseconds or milliseconds, to a sensible digit.
pub fn time(nanos: u64) -> String {
    if nanos < 1_000_000 {
        format!("{} us", nanos / 1000)
    } else {
        format!("{:.1} ms", nanos as f64 / 1e6)
    }
}

pub fn ratio_of<'a>(results: &'a Results, faster: &Key, slower: &Key) -> Option<&'a Ratio> {
    results.ratios.iter().find(|r| r.faster == *faster && r.slower == *slower)
}

/// The after's advantage over a point, on the same build and threads where there is such.
pub fn after_over<'a>(lesson: &Lesson, results: &'a Results, point: &Point) -> Option<&'a Ratio> {
    let faster = Key { variant: lesson.bench.after.clone(), ..point.key.clone() };
    ratio_of(results, &faster, &point.key)
}

pub fn scaling<'a>(results: &'a Results, point: &Point) -> Option<&'a Ratio> {
    let one = Key { threads: 1, ..point.key.clone() };
    (point.key.threads > 1).then(|| ratio_of(results, &point.key, &one)).flatten()
}

/// What the free-threaded build costs where there is one thread: the after, on the first workload.
fn overhead(lesson: &Lesson, results: &Results) -> Option<String> {
    let workload = &results.points.first()?.key.workload;
    let after_on_one = |key: &Key| {
        (&key.variant, &key.workload, key.threads) == (&lesson.bench.after, workload, 1)
    };
    let found = results
        .ratios
        .iter()
        .find(|ratio| after_on_one(&ratio.faster) && after_on_one(&ratio.slower))?;
    Some(format!(
        "{} on one thread is {:.2}x {} ({}, {workload})\n",
        found.faster.build, found.value, found.slower.build, lesson.bench.after
    ))
}

pub fn text(lesson: &Lesson, results: &Results) -> String {
    let mut out = format!("\n{}: {}\n", lesson.name, lesson.title);
    let environment = &results.environment;
    out += &format!(
        "{} | {} cores | {}\n{} | {} profile | commit {}\n",
        environment.cpu,
        environment.cores,
        environment.kernel,
        environment.date,
        environment.profile,
        environment.commit
    );
    for process in &environment.processes {
        out += &format!("  {process}\n");
    }
    let mut workload = "";
    for point in &results.points {
        if workload != point.key.workload {
            workload = &point.key.workload;
            out += &format!(
                "\n{:<22} {:<6}{:>3} {:>10} {:>8} {:>7} {:>8} {:>9}\n",
                workload, "build", "thr", "rows", "ns/row", "x 1 thr", "after is", "first row"
            );
        }
        let scaling = scaling(results, point).map_or(String::new(), |r| format!("{:.2}x", r.value));
        let after = after_over(lesson, results, point)
            .map_or(String::new(), |r| format!("{:.2}x", r.value));
        out += &format!(
            "{:<22} {:<6}{:>3} {:>10} {:>8.1} {:>7} {:>8} {:>9}\n",
            point.key.variant,
            point.key.build,
            point.key.threads,
            rate(point.rows_per_s),
            point.ns_per_row,
            scaling,
            after,
            point.first_row_ns.map_or(String::new(), time),
        );
    }
    out += "\nx 1 thr: against itself on one thread. after is: how much faster the lesson's\n\
            after is, on the same build and threads. Ratios are medians over rounds.\n";
    out += &overhead(lesson, results).unwrap_or_default();
    for reason in &environment.not_run {
        out += &format!("not run: {reason}\n");
    }
    out
}
