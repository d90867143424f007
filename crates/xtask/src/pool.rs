//! Child processes, a few at a time, reported in a fixed order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};

/// How many runs ended as they should.
#[derive(Default)]
pub struct Tally {
    passed: usize,
    failed: usize,
}

impl Tally {
    pub fn count(&mut self, ok: bool) {
        if ok { self.passed += 1 } else { self.failed += 1 }
    }

    /// Says it, unless only JSON is wanted, and fails if any failed: "3 `failure`".
    pub fn end(&self, what: &str, failure: &str, json: bool) -> Result<()> {
        let Self { passed, failed } = self;
        if !json {
            println!("\n{what}: {passed} passed, {failed} failed");
        }
        if *failed > 0 {
            bail!("{failed} {failure}");
        }
        Ok(())
    }
}

/// As many as there are cores.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

/// Runs `run` on every item, `at_a_time` of them, and hands the results to `report` in the order of the
/// items, each as soon as those before it are there.
///
/// # Errors
/// The first of `report`; the items that have begun are still run to their end.
pub fn in_order<T: Sync, R: Send>(
    items: &[T],
    at_a_time: usize,
    name: impl Fn(&T) -> String + Sync,
    run: impl Fn(&T) -> R + Sync,
    mut report: impl FnMut(R) -> Result<()> + Send,
) -> Result<()> {
    let bar = ProgressBar::new(items.len() as u64).with_style(
        ProgressStyle::with_template("   [{bar:30}] {pos}/{len} {msg}").expect("a constant"),
    );
    let next = AtomicUsize::new(0);
    let done = Mutex::new((0, (0..items.len()).map(|_| None).collect::<Vec<_>>(), Ok(())));
    let report = Mutex::new(&mut report);
    std::thread::scope(|scope| {
        for _ in 0..at_a_time.min(items.len()) {
            scope.spawn(|| {
                loop {
                    // Relaxed: the number is all that the threads share through it.
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    bar.set_message(name(item));
                    let result = run(item);
                    bar.inc(1);
                    let mut guard = done.lock().expect("no panic inside");
                    let (told, results, failure) = &mut *guard;
                    results[index] = Some(result);
                    while let Some(ready) = results.get_mut(*told).and_then(Option::take) {
                        *told += 1;
                        if failure.is_ok() {
                            let mut report = report.lock().expect("no panic inside");
                            *failure = bar.suspend(|| report(ready));
                        }
                    }
                }
            });
        }
    });
    bar.finish_and_clear();
    done.into_inner().expect("no panic inside").2
}
