//! The story of a run: numbered steps by thread, and who waits for what when nobody can go on.
//!
//! loom reports a deadlock as a list of thread states. Each step here is put down in words as it
//! happens, so that the run that failed can be told. loom runs one thread at a time, so the order of
//! the steps is the order in which they happened.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Default)]
struct Story {
    runs: u64,
    /// Of the runs so far, the longest in which the main thread waited: see [`example`].
    example: String,
    steps: Vec<(String, String)>,
    threads: BTreeMap<String, Thread>,
}

#[derive(Default)]
struct Thread {
    attached: bool,
    waits: Option<String>,
}

// std's lock, which loom does not see: it is not part of any model.
static STORY: Mutex<Option<Story>> = Mutex::new(None);

fn with<R>(f: impl FnOnce(&mut Story) -> R) -> R {
    let mut guard: MutexGuard<'_, Option<Story>> =
        STORY.lock().unwrap_or_else(PoisonError::into_inner);
    f(guard.get_or_insert_default())
}

fn here() -> String {
    loom::thread::current().name().unwrap_or("main").to_owned()
}

/// A new run begins.
pub(crate) fn begin() {
    with(|story| {
        let example = better_example(story);
        *story = Story { runs: story.runs + 1, example, ..Story::default() };
    });
}

fn better_example(story: &mut Story) -> String {
    let now = story.told();
    // The main thread is the one that a reader follows.
    let rank =
        |text: &str| (text.contains(" main waits for "), text.contains(" waits for "), text.len());
    let better = rank(&now) > rank(&story.example);
    if better { now } else { std::mem::take(&mut story.example) }
}

/// One of the orders that end well: the longest in which the main thread waited, if there is one.
pub fn example() -> String {
    with(|story| better_example(story))
}

/// How many orders have been tried so far.
pub fn runs() -> u64 {
    with(|story| story.runs)
}

/// Puts down what the current thread does: "takes the lock".
pub fn step(text: impl Into<String>) {
    let (name, text) = (here(), text.into());
    with(|story| story.steps.push((name, text)));
}

/// The current thread waits until [`goes_on`]: `what` is what for, "the lock".
pub fn waits(what: &str) {
    let name = here();
    with(|story| {
        let thread = story.threads.entry(name.clone()).or_default();
        thread.waits = Some(what.to_owned());
        let how = if thread.attached { ", attached" } else { "" };
        story.steps.push((name, format!("waits for {what}{how}")));
    });
}

/// The current thread has what it waited for.
pub fn goes_on() {
    let name = here();
    with(|story| {
        story.threads.entry(name.clone()).or_default().waits = None;
        story.steps.push((name, "goes on".to_owned()));
    });
}

pub(crate) fn is_attached() -> bool {
    let name = here();
    with(|story| story.threads.get(&name).is_some_and(|thread| thread.attached))
}

pub(crate) fn set_attached(is: bool) {
    let name = here();
    with(|story| story.threads.entry(name).or_default().attached = is);
}

pub(crate) fn attached(is: bool, text: &str) {
    let name = here();
    with(|story| {
        story.threads.entry(name.clone()).or_default().attached = is;
        story.steps.push((name, text.to_owned()));
    });
}

/// The run so far, as numbered lines; then each thread that still waits.
pub fn story() -> String {
    with(|story| story.told())
}

impl Story {
    fn told(&self) -> String {
        let mut text = String::new();
        for (number, (thread, step)) in self.steps.iter().enumerate() {
            let _ = writeln!(text, "{:2}. {thread} {step}.", number + 1);
        }
        let waiting =
            self.threads.iter().filter_map(|(name, t)| Some((name, t, t.waits.as_ref()?)));
        for (name, thread, what) in waiting {
            let state = if thread.attached { "attached" } else { "detached" };
            let _ = writeln!(text, "    {name}, {state}, waits for {what}.");
        }
        text
    }
}
