//! `cargo xtask bench [lesson]`: builds and variants in interleaved rounds, ratios inside a round.

mod child;
pub mod machine;
pub mod report;
pub mod results;
pub mod table;
pub mod usl;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use lesson_kit::lesson::{self, Lesson};
use lesson_kit::protocol::Ask;

use self::child::Child;
use self::results::{Environment, Key, Raw, Results};
use crate::python::{self, Build};
use crate::{data, extension, paths, sh};

#[derive(Args)]
pub struct Options {
    /// One lesson; without it, all of them
    lesson: Option<String>,
    /// The long profile: more rounds, more rows, four threads
    #[arg(long)]
    full: bool,
    /// The least that runs every case once, to test the harness
    #[arg(long, hide = true)]
    smoke: bool,
    /// Thread counts, for example 1,2,4
    #[arg(long, value_delimiter = ',')]
    threads: Option<Vec<usize>>,
    /// Builds, for example 3.14,3.14t
    #[arg(long, value_delimiter = ',', default_values_t = ["3.14".to_owned(), "3.14t".to_owned()])]
    builds: Vec<String>,
    /// Thread counts 1, 2, 4 ... up to this machine's cores, and the law of scaling fitted to them
    #[arg(long)]
    fit: bool,
    /// One JSON object a line for each point, and nothing else on standard output
    #[arg(long)]
    json: bool,
    /// Also keep the result as the book's reference (results/<lesson>.json)
    #[arg(long)]
    save: bool,
}

/// Runs every case of every lesson once, without the peers, and looks at what `--json` would print.
pub fn smoke() -> Result<()> {
    let mut points = 0;
    for lesson in lesson::all(paths::root())?.into_iter().filter(Lesson::measured) {
        let mut without_peers = lesson.clone();
        without_peers.bench.variants.retain(|name, _| !name.starts_with("peer:"));
        let results = bench(&without_peers, &SMOKE, SMOKE.threads, &Build::BOTH)?;
        for point in &results.points {
            let line = serde_json::to_value(point)?;
            for field in JSON_FIELDS {
                if line.get(field).is_none() {
                    bail!("a line of --json lacks {field}: {line}");
                }
            }
            points += 1;
        }
        let measured = |name: &String| results.points.iter().any(|p| p.key.variant == *name);
        if let Some(missing) = without_peers.bench.variants.keys().find(|name| !measured(name)) {
            bail!("{}: lesson.toml names {missing}, which no process measures", lesson.name);
        }
        if results.ratios.is_empty() || table::text(&lesson, &results).lines().any(|l| l.len() > 80)
        {
            bail!("{}: the table has no ratios or is wider than 80 columns", lesson.name);
        }
    }
    println!("{points} points");
    Ok(())
}

/// What every line of `--json` has at least.
const JSON_FIELDS: [&str; 10] = [
    "lesson",
    "variant",
    "build",
    "threads",
    "rows_per_s",
    "ns_per_row",
    "spread",
    "rounds",
    "gil_enabled",
    "workload",
];

/// How long and how much.
struct Profile {
    name: &'static str,
    rounds: usize,
    rows: usize,
    slow_rows: usize,
    samples: usize,
    seconds: f64,
    warm_up: f64,
    threads: &'static [usize],
    flights: bool,
}

const QUICK: Profile = Profile {
    name: "quick",
    rounds: 3,
    rows: 1 << 19,
    slow_rows: 1 << 17,
    samples: 10,
    seconds: 0.2,
    warm_up: 0.02,
    threads: &[1, 2],
    flights: false,
};

/// Sees that the harness works; its numbers mean nothing.
const SMOKE: Profile = Profile {
    name: "smoke",
    rounds: 1,
    rows: 1 << 14,
    slow_rows: 1 << 10,
    samples: 10,
    seconds: 0.01,
    warm_up: 0.001,
    threads: &[1, 2],
    flights: true,
};

const FULL: Profile = Profile {
    name: "full",
    rounds: 5,
    rows: 4_000_000,
    slow_rows: 1_000_000,
    samples: 10,
    seconds: 0.3,
    warm_up: 0.1,
    threads: &[1, 2, 4],
    flights: true,
};

pub fn run(options: &Options) -> Result<()> {
    let mut lessons = lesson::all(paths::root())?;
    // As the book has them: the first table is that of its first lesson, the last the summary.
    let summary = std::fs::read_to_string(paths::root().join("book/src/SUMMARY.md"))?;
    lessons.sort_by_key(|one| summary.find(&format!("({}.md)", one.name)).unwrap_or(usize::MAX));
    let chosen: Vec<&Lesson> = match &options.lesson {
        Some(name) => vec![lesson::find(&lessons, name)?],
        None => lessons.iter().filter(|lesson| lesson.measured()).collect(),
    };
    if let Some(without) = chosen.iter().find(|lesson| !lesson.measured()) {
        bail!("{} has nothing to measure; `cargo xtask faults {0}` runs it", without.name);
    }
    let profile = match (options.smoke, options.full) {
        (true, _) => &SMOKE,
        (_, true) => &FULL,
        _ => &QUICK,
    };
    if options.threads.iter().flatten().any(|count| !(1..=1024).contains(count)) {
        bail!("--threads takes numbers from 1 to 1024, for example 1,2,4");
    }
    let builds =
        options.builds.iter().map(|name| Build::parse(name)).collect::<Result<Vec<_>>>()?;
    for lesson in chosen {
        let of_lesson = lesson.bench.threads.as_deref().unwrap_or(profile.threads);
        let fitted = options.fit.then(doubling);
        let threads = options.threads.as_deref().or(fitted.as_deref()).unwrap_or(of_lesson);
        let results = bench(lesson, profile, threads, &builds)?;
        let file = paths::local(&format!("results/{}.json", lesson.name));
        let text = serde_json::to_string_pretty(&results)? + "\n";
        std::fs::write(&file, &text)?;
        if options.save {
            let kept = paths::root().join(format!("results/{}.json", lesson.name));
            std::fs::write(&kept, &text)?;
            crate::readme::table(false)?;
        }
        let html = report::write(lesson, &results, &paths::local("results/."))?;
        if options.json {
            for point in &results.points {
                println!("{}", serde_json::to_string(point)?);
            }
        } else {
            print!("{}", table::text(lesson, &results));
            if options.fit {
                print!("{}", usl::text(&usl::lines(&results, &lesson.bench.after)));
            }
            println!("\nresults  {}\nreport   {}", paths::shown(&file), paths::shown(&html));
        }
    }
    Ok(())
}

/// 1, 2, 4 and so on, and the number of cores.
fn doubling() -> Vec<usize> {
    let cores = std::thread::available_parallelism().map_or(2, usize::from).max(2);
    let mut counts: Vec<usize> = std::iter::successors(Some(1), |count| Some(count * 2))
        .take_while(|c| *c < cores)
        .collect();
    counts.push(cores);
    counts
}

fn bench(
    lesson: &Lesson,
    profile: &Profile,
    threads: &[usize],
    builds: &[Build],
) -> Result<Results> {
    let (mut children, not_run) = start(lesson, profile, builds)?;
    for child in &children {
        let environment = &child.listing.environment;
        if environment.free_threaded && !environment.constants_immortal {
            bail!(
                "{}: the constants of imported code are mortal, so threads would contend on them: a \
                 .pyc is missing. Remove .ungil/venv and run again",
                child.label
            );
        }
    }
    // Every case of a round, in an order that changes from round to round. What is compared is measured
    // close together: a case at all its thread counts, and the cases of a workload.
    let mut plan: Vec<(String, usize, usize, &[usize])> = Vec::new();
    for (index, child) in children.iter().enumerate() {
        for (case, info) in child.listing.cases.iter().enumerate() {
            // The quick profile leaves the flights out; a lesson's own workloads are always in.
            if info.workload == "flights" && !profile.flights {
                continue;
            }
            let counts = if info.threaded { threads } else { &threads[..1] };
            plan.push((info.workload.clone(), index, case, counts));
        }
    }
    let points: usize = plan.iter().map(|case| case.3.len()).sum();
    let bar = ProgressBar::new((points * profile.rounds) as u64).with_style(
        ProgressStyle::with_template("   [{bar:30}] {pos}/{len} {msg}").expect("a constant"),
    );
    let mut raw = Vec::new();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..profile.rounds {
        shuffle(&mut plan, &mut state);
        let mut workloads: Vec<String> = Vec::new();
        for (workload, ..) in &plan {
            if !workloads.contains(workload) {
                workloads.push(workload.clone());
            }
        }
        // Stable: inside of a workload the order stays shuffled.
        plan.sort_by_key(|case| workloads.iter().position(|name| *name == case.0));
        if bar.is_hidden() {
            // No terminal: a log gets a line a round.
            eprintln!("   round {} of {}: {} points", round + 1, profile.rounds, points);
        }
        let each = plan.iter().flat_map(|(_, index, case, counts)| {
            counts.iter().map(|count| (*index, *case, *count))
        });
        for (index, case, count) in each {
            let child = &mut children[index];
            let info = child.listing.cases[case].clone();
            bar.inc(1);
            // What takes seconds a query is measured in one round only, beside all others.
            if info.slow && round > 0 {
                continue;
            }
            bar.set_message(format!("{} {} x{count}", info.variant, child.label));
            let (seconds, warm_up) = (profile.seconds, profile.warm_up);
            let samples = if info.slow { 3 } else { profile.samples };
            let ask = Ask::Measure { case, threads: count, samples, seconds, warm_up };
            let (measured, peak_pss) = child.measure(&ask)?;
            let free = child.listing.environment.free_threaded;
            if measured.gil_enabled != [!free, !free] {
                bail!(
                    "{} {}: the GIL was {:?} before and after, and this build should have had it {}: \
                     these numbers would be of another build",
                    child.label,
                    info.variant,
                    measured.gil_enabled,
                    if free { "off" } else { "on" }
                );
            }
            raw.push(Raw {
                round,
                key: Key {
                    variant: info.variant,
                    build: child.label.split(' ').next().unwrap_or_default().into(),
                    workload: info.workload,
                    threads: count,
                },
                ns_per_row: measured.ns_per_row.iter().copied().fold(f64::INFINITY, f64::min),
                gil_enabled: measured.gil_enabled,
                first_block_ns: measured.first_block_ns,
                collections_per_s: measured.collections_per_s,
                peak_pss,
                rows: info.rows,
            });
        }
    }
    bar.finish_and_clear();
    let mut points = results::points(&lesson.name, &raw);
    // As lesson.toml compares; the after comes third if it is not itself in the list.
    let compare = &lesson.bench.compare;
    let (first, rest) = compare.split_at(2.min(compare.len()));
    let after = (!compare.contains(&lesson.bench.after)).then_some(&lesson.bench.after);
    let order: Vec<&String> = first.iter().chain(after).chain(rest).collect();
    // Workloads as the lesson lists them.
    let workloads: Vec<&String> =
        children.iter().flat_map(|c| &c.listing.cases).map(|case| &case.workload).collect();
    points.sort_by_key(|point| {
        let place = order.iter().position(|name| **name == point.key.variant);
        let workload = workloads.iter().position(|name| **name == point.key.workload);
        (workload, place, point.key.build.clone(), point.key.threads)
    });
    Ok(Results {
        lesson: lesson.name.clone(),
        environment: Environment {
            profile: profile.name.into(),
            processes: children.iter().map(process).collect(),
            not_run,
            ..machine::here()?
        },
        ratios: ratios(lesson, &points, &raw),
        points,
    })
}

fn process(child: &Child) -> String {
    let environment = &child.listing.environment;
    let kind = if environment.free_threaded { "free-threaded" } else { "GIL-enabled" };
    let packages = environment.packages.iter().map(|p| format!(", {p}")).collect::<String>();
    format!("{}: CPython {} {kind}{packages}", child.label, environment.python)
}

/// One child for each build, and one for each peer that can be had; the others are named.
fn start(
    lesson: &Lesson,
    profile: &Profile,
    builds: &[Build],
) -> Result<(Vec<Child>, Vec<String>)> {
    let ready = extension::ready(builds)?;
    let flights = data::flights(&ready[0].env)?;
    let (mut children, mut not_run) = (Vec::new(), Vec::new());
    let log = |name: &str| -> PathBuf { paths::local(&format!("log/bench-{name}.txt")) };
    for one in &ready {
        let name = one.interpreter.build.name();
        let mut command = one.env.command();
        quiet(&mut command)
            .args(["-m", "ungil._bench", &lesson.name])
            .args([profile.rows.to_string(), profile.slow_rows.to_string()])
            .arg(&flights);
        let step = sh::Step::new(format!("starting the measured process for {name}"));
        children.push(Child::start(&name, &mut command, log(&name))?);
        step.done();
    }
    let stock = ready.iter().find(|one| !one.interpreter.build.free_threaded);
    for variant in lesson.bench.variants.keys() {
        let Some(peer) = variant.strip_prefix("peer:") else { continue };
        // A peer that both builds have is a case of the lesson's own.
        let own = |child: &Child| child.listing.cases.iter().any(|case| case.variant == *variant);
        if children.iter().any(own) {
            continue;
        }
        let Some(stock) = stock else {
            not_run.push(format!("{variant}: it runs on stock 3.14, which was not asked for"));
            continue;
        };
        let started = (|| {
            let list = format!("peer-{peer}");
            let own = paths::root().join(format!("requirements/{list}.txt")).is_file();
            let env = if own {
                python::environment(&stock.interpreter, &list)?
            } else {
                stock.env.clone()
            };
            let mut command = env.command();
            quiet(&mut command)
                .arg(paths::root().join("bench/peers.py"))
                .args([&lesson.name, peer, &profile.rows.to_string()])
                .arg(flights.join("flights.arrow"));
            let label = format!("{} {peer}", stock.interpreter.build.name());
            Child::start(&label, &mut command, log(peer))
        })();
        match started {
            Ok(child) => children.push(child),
            Err(error) => not_run.push(format!("{variant}: {}", first_line(&error))),
        }
    }
    if children.is_empty() {
        bail!("nothing to measure");
    }
    Ok((children, not_run))
}

/// Helper threads of numpy's linear algebra would run beside the measured ones.
fn quiet(command: &mut Command) -> &mut Command {
    command.env("OPENBLAS_NUM_THREADS", "1").env("OMP_NUM_THREADS", "1")
}

fn first_line(error: &anyhow::Error) -> String {
    format!("{error:#}").lines().next().unwrap_or_default().to_owned()
}

fn shuffle<T>(items: &mut [T], state: &mut u64) {
    for last in (1..items.len()).rev() {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        items.swap(last, (*state % (last as u64 + 1)) as usize);
    }
}

/// The after against everything else on its build and thread count, builds against each other, and
/// each threaded variant against itself on one thread.
fn ratios(lesson: &Lesson, points: &[results::Point], raw: &[Raw]) -> Vec<results::Ratio> {
    let mut ratios = Vec::new();
    let mut add = |faster: &Key, slower: &Key| ratios.extend(results::ratio(raw, faster, slower));
    for point in points.iter().map(|point| &point.key) {
        let like = |other: &Key| other.workload == point.workload;
        if point.variant == lesson.bench.after {
            for other in points.iter().map(|p| &p.key).filter(|other| like(other)) {
                let peer = other.variant.starts_with("peer:");
                let same_build = other.build == point.build && other.variant != point.variant;
                // What has one thread only is compared with any number of them.
                let single = same_build
                    && !points.iter().any(|p| {
                        p.key.variant == other.variant && like(&p.key) && p.key.threads > 1
                    });
                if (same_build && other.threads == point.threads) || (single && point.threads != 1)
                {
                    add(point, other);
                } else if peer && !same_build && other.threads <= point.threads {
                    // A peer has no free-threaded build: its stock figure stands for it.
                    add(point, other);
                } else if other.variant == point.variant
                    && other.build < point.build
                    && other.threads == point.threads
                {
                    add(point, other);
                }
            }
        }
        if point.threads > 1 && !point.variant.starts_with("peer:") {
            let one = Key { threads: 1, ..point.clone() };
            add(point, &one);
        }
    }
    ratios
}

/// Used by `machine`: a limit for programs that only say a line.
const SHORT: Duration = Duration::from_secs(20);

/// What a small program prints, or nothing if it is not there.
pub fn said(program: &str, words: &[&str]) -> String {
    let output =
        sh::run_within(Command::new(program).args(words).current_dir(paths::root()), SHORT);
    output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).unwrap_or_default()
}

/// Reads the reference result of a lesson.
pub fn reference(lesson: &str) -> Result<Results> {
    let file = paths::root().join(format!("results/{lesson}.json"));
    let text = std::fs::read_to_string(&file).with_context(|| {
        format!("no {}; run `cargo xtask bench {lesson} --full --save`", paths::shown(&file))
    })?;
    Ok(serde_json::from_str(&text)?)
}
