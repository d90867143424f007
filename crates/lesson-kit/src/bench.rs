//! The measured half of the harness: criterion, inside the interpreter.
//!
//! A lesson describes its cases; [`serve`] measures them one at a time as the driver asks. Samples
//! are criterion's; statistics over rounds are the driver's, since it sees all builds.

use std::io::{BufRead, Write};
use std::ops::Range;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use criterion::{Criterion, SamplingMode};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::protocol::{Ask, CaseInfo, Environment, Listing, Measured};

/// The time of some iterations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    /// All of them.
    pub total: Duration,
    /// From the start of the last one until its first block, where that exists.
    pub first_block: Option<Duration>,
}

/// Runs a case: `(threads, iterations)`. Called attached; whoever needs not be detaches.
pub type Work = Box<dyn Fn(Python<'_>, usize, u64) -> PyResult<Timing> + Send + Sync>;

/// A case of a lesson.
pub struct Case {
    /// What the driver sees of it.
    pub info: CaseInfo,
    /// How it runs. It checks its own result: a fast wrong answer is not a measurement.
    pub work: Work,
}

impl Case {
    /// A case of `rows` rows an iteration, measured at each of the thread counts.
    pub fn new(variant: &str, workload: &str, rows: usize, work: Work) -> Self {
        let (variant, workload) = (variant.into(), workload.into());
        Self { info: CaseInfo { variant, workload, rows, slow: false, threaded: true }, work }
    }

    /// It takes seconds an iteration: measured in the first round only.
    pub fn slow(mut self) -> Self {
        self.info.slow = true;
        self
    }

    /// It has one thread whatever it is asked for.
    pub fn on_one_thread(mut self) -> Self {
        self.info.threaded = false;
        self
    }
}

/// Times `run(py, threads)` from the caller's side, so many times in a row.
pub fn timed(run: impl Fn(Python<'_>, usize) -> PyResult<()> + Send + Sync + 'static) -> Work {
    Box::new(move |py, threads, iterations| {
        let start = Instant::now();
        for _ in 0..iterations {
            run(py, threads)?;
        }
        Ok(Timing { total: start.elapsed(), first_block: None })
    })
}

/// Runs `work` once on each of `threads` new threads, attached. The clock runs from the first thread
/// that begins to the last that ends; all of them are attached before.
///
/// # Errors
/// None so far; a panic in `work` goes on in the caller.
pub fn attached_threads(
    py: Python<'_>,
    threads: usize,
    work: impl Fn(Python<'_>) + Sync,
) -> PyResult<Timing> {
    let ready = Barrier::new(threads);
    let run = || {
        Python::attach(|py| {
            // Detached: on the GIL-enabled build the others must attach meanwhile.
            py.detach(|| ready.wait());
            // Each reads the clock itself: with more threads than cores, a thread that only watched
            // would often wake up after some of them have ended.
            let start = Instant::now();
            work(py);
            (start, Instant::now())
        })
    };
    let times: Vec<(Instant, Instant)> = py.detach(|| {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
            workers.into_iter().map(|worker| worker.join().expect("work does not panic")).collect()
        })
    });
    let start = times.iter().map(|(start, _)| *start).min();
    let end = times.iter().map(|(_, end)| *end).max();
    let total = start.zip(end).map_or(Duration::ZERO, |(start, end)| end - start);
    Ok(Timing { total, first_block: None })
}

/// Does `rows` rows, so many times, on `threads` attached threads: `work` is called with a range of at
/// most `chunk` of them. Whichever thread is free takes the next chunk: shared out beforehand, the
/// rows of a thread that the machine slowed down would be waited for, and would be the measurement.
///
/// # Errors
/// As [`attached_threads`].
pub fn shared_out(
    py: Python<'_>,
    threads: usize,
    iterations: u64,
    rows: usize,
    chunk: usize,
    work: impl Fn(Python<'_>, Range<usize>) + Sync,
) -> PyResult<Timing> {
    let chunks = rows.div_ceil(chunk);
    let next = AtomicUsize::new(0);
    attached_threads(py, threads, |py| {
        loop {
            // Relaxed: it hands out numbers.
            let taken = next.fetch_add(1, Ordering::Relaxed);
            if taken >= chunks * iterations as usize {
                break;
            }
            let from = taken % chunks * chunk;
            work(py, from..rows.min(from + chunk));
        }
    })
}

/// Answers the driver's questions on standard input until it closes.
///
/// Whatever else writes to standard output (criterion does) is sent to standard error.
///
/// # Errors
/// A case that raises ends the process with its exception; so does a line that is not a question.
pub fn serve(py: Python<'_>, cases: &[Case], module: &Bound<'_, PyAny>) -> PyResult<()> {
    let answers = rustix::io::dup(rustix::stdio::stdout()).map_err(std::io::Error::from)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr()).map_err(std::io::Error::from)?;
    let mut answers = std::fs::File::from(answers);
    let scratch = tempfile::tempdir()?;
    for line in std::io::stdin().lock().lines() {
        let ask: Ask = serde_json::from_str(&line?)
            .map_err(|error| PyValueError::new_err(format!("not a question: {error}")))?;
        let answer = match ask {
            Ask::List => serde_json::to_string(&Listing {
                cases: cases.iter().map(|case| case.info.clone()).collect(),
                environment: environment(py, module)?,
            }),
            Ask::Measure { case, threads, samples, seconds, warm_up } => {
                let case = cases.get(case).ok_or_else(|| PyValueError::new_err("no such case"))?;
                let times = [warm_up, seconds].map(Duration::from_secs_f64);
                serde_json::to_string(&measure(py, case, threads, samples, times, scratch.path())?)
            }
        };
        let answer = answer.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        writeln!(answers, "{answer}")?;
    }
    Ok(())
}

fn gil_enabled(py: Python<'_>) -> PyResult<bool> {
    py.import("sys")?.call_method0("_is_gil_enabled")?.extract()
}

/// Garbage collections since the process began, of all generations.
fn collections(py: Python<'_>) -> PyResult<u64> {
    let generations: Vec<Bound<'_, PyAny>> =
        py.import("gc")?.call_method0("get_stats")?.extract()?;
    generations.iter().map(|one| one.get_item("collections")?.extract::<u64>()).sum()
}

fn environment(py: Python<'_>, module: &Bound<'_, PyAny>) -> PyResult<Environment> {
    let sys = py.import("sys")?;
    let config = py.import("sysconfig")?;
    let disabled = config.call_method1("get_config_var", ("Py_GIL_DISABLED",))?;
    // A constant of the very module whose functions are measured.
    let constant = module.getattr("CONSTANT_PROBE")?.call0()?;
    Ok(Environment {
        python: py.import("platform")?.call_method0("python_version")?.extract()?,
        free_threaded: disabled.is_truthy()?,
        constants_immortal: sys.call_method1("_is_immortal", (constant,))?.extract()?,
        packages: vec![],
    })
}

fn measure(
    py: Python<'_>,
    case: &Case,
    threads: usize,
    samples: usize,
    [warm_up, spend]: [Duration; 2],
    scratch: &std::path::Path,
) -> PyResult<Measured> {
    let before = Before {
        gil_enabled: gil_enabled(py)?,
        collections: collections(py)?,
        start: Instant::now(),
    };
    let mut failure = None;
    let mut first_block = None;
    let rows = case.info.rows as f64;
    if samples < LEAST_SAMPLES {
        // What takes seconds an iteration gets a few of them, without a warm-up.
        let mut ns_per_row = Vec::with_capacity(samples);
        for _ in 0..samples {
            let timing = (case.work)(py, threads, 1)?;
            first_block = timing.first_block;
            ns_per_row.push(timing.total.as_nanos() as f64 / rows);
        }
        return measured(py, ns_per_row, before, first_block);
    }
    let mut criterion = Criterion::default()
        .output_directory(scratch)
        .without_plots()
        .sample_size(samples)
        .warm_up_time(warm_up)
        .measurement_time(spend)
        // The driver makes its own statistics, over rounds.
        .nresamples(10);
    let mut group = criterion.benchmark_group("case");
    group.sampling_mode(SamplingMode::Flat).bench_function("work", |bencher| {
        bencher.iter_custom(|iterations| {
            if failure.is_some() {
                return Duration::from_nanos(iterations);
            }
            match (case.work)(py, threads, iterations) {
                Ok(timing) => {
                    first_block = timing.first_block;
                    timing.total
                }
                Err(error) => {
                    failure = Some(error);
                    Duration::from_nanos(iterations)
                }
            }
        });
    });
    group.finish();
    if let Some(error) = failure {
        return Err(error);
    }
    #[derive(serde::Deserialize)]
    struct Sample {
        iters: Vec<f64>,
        times: Vec<f64>,
    }
    let text = std::fs::read_to_string(scratch.join("case/work/new/sample.json"))?;
    let sample: Sample = serde_json::from_str(&text)
        .map_err(|error| PyRuntimeError::new_err(format!("criterion's samples: {error}")))?;
    let ns_per_row = sample.times.iter().zip(&sample.iters).map(|(t, n)| t / n / rows).collect();
    measured(py, ns_per_row, before, first_block)
}

/// Criterion takes no fewer.
const LEAST_SAMPLES: usize = 10;

/// What is compared with itself after a measurement.
struct Before {
    gil_enabled: bool,
    collections: u64,
    start: Instant,
}

fn measured(
    py: Python<'_>,
    ns_per_row: Vec<f64>,
    before: Before,
    first_block: Option<Duration>,
) -> PyResult<Measured> {
    let collected = collections(py)? - before.collections;
    Ok(Measured {
        ns_per_row,
        gil_enabled: [before.gil_enabled, gil_enabled(py)?],
        first_block_ns: first_block.map(|d| d.as_nanos() as u64),
        collections_per_s: collected as f64 / before.start.elapsed().as_secs_f64(),
    })
}
