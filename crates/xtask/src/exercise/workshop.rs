//! A learner's folder. It has no path of this machine in it: copied to another checkout, it goes on
//! there.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::check::Work;
use super::make::{self, All, Job, Slot};
use super::source::View;
use super::text::{self, Check, Exercise, Language};
use super::{carets, places, show};
use crate::extension::Ready;
use crate::{house, paths, pool, sh};

pub struct Workshop {
    folder: PathBuf,
    exercises: Vec<Exercise>,
    progress: Progress,
}

/// What `progress.json` keeps.
#[derive(Default, Serialize, Deserialize)]
struct Progress {
    /// What was started last.
    current: Option<String>,
    started: BTreeMap<String, State>,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct State {
    passed: bool,
    hints: usize,
}

impl Workshop {
    pub fn open(folder: PathBuf) -> Result<Self> {
        let progress = match std::fs::read_to_string(folder.join("progress.json")) {
            Ok(text) => serde_json::from_str(&text).context(
                "workshop/progress.json is damaged; take it away, and `start` begins a new one",
            )?,
            Err(_) => Progress::default(),
        };
        Ok(Self { folder, exercises: text::all()?, progress })
    }

    pub fn list(&self, json: bool) -> Result<()> {
        for one in &self.exercises {
            let state = self.progress.started.get(&one.name);
            let word = match state {
                Some(state) if state.passed => "done",
                Some(_) => "started",
                None => "",
            };
            let (name, minutes, title) = (&one.name, one.minutes, &one.title);
            let language = if one.language == Language::Rust { "Rust" } else { "C++" };
            if json {
                let line = serde_json::json!({
                    "exercise": name, "lesson": one.lesson, "minutes": minutes,
                    "language": language, "title": title, "state": word,
                    "hints": state.map_or(0, |state| state.hints),
                });
                println!("{line}");
            } else {
                println!("{word:<8}{name:<24}{language:<5}{minutes:>3} min  {title}");
            }
        }
        if !json {
            let done = self.progress.started.values().filter(|state| state.passed).count();
            let minutes: u32 = self.exercises.iter().map(|one| one.minutes).sum();
            println!("\n{done} of {} done; all together {minutes} minutes", self.exercises.len());
        }
        Ok(())
    }

    pub fn start(&mut self, name: &str) -> Result<()> {
        let one = self.find(name)?;
        let folder = self.folder.join(name);
        let readme = readme(one);
        if folder.is_dir() {
            println!("{name}: already there, and as you left it\n");
        } else {
            make::package(one, &folder, name, &one.files(View::Starter)?)?;
        }
        house::write(&folder.join("README.md"), &readme)?;
        println!("{readme}");
        for (file, _) in one.files(View::Starter)? {
            println!("  workshop/{name}/src/{file}");
        }
        println!("\nEdit, then `just exercise check`, or `just exercise watch` beside it.");
        self.progress.current = Some(name.to_owned());
        let state = self.progress.started.get(name).cloned().unwrap_or_default();
        self.keep(name, state)?;
        self.manifest()
    }

    pub fn check(&mut self, name: Option<&str>, json: bool) -> Result<()> {
        let name = self.chosen(name)?;
        let passed = self.look(&name, json)?;
        if !passed {
            bail!("not there yet; `just exercise hint` says a little more");
        }
        if !json {
            println!("\n{}", self.after(&name));
        }
        Ok(())
    }

    pub fn watch(&mut self, name: Option<&str>) -> Result<()> {
        let name = self.chosen(name)?;
        let src = self.folder.join(&name).join("src");
        let newest = || -> Option<SystemTime> {
            let files = std::fs::read_dir(&src).ok()?.flatten();
            files.filter_map(|file| file.metadata().ok()?.modified().ok()).max()
        };
        let mut seen = None;
        println!("watching workshop/{name}/src; Ctrl-C ends it");
        loop {
            let now = newest();
            if now == seen {
                std::thread::sleep(Duration::from_millis(300));
                continue;
            }
            seen = now;
            match self.look(&name, false) {
                Ok(true) => {
                    println!("\n{}", self.after(&name));
                    return Ok(());
                }
                Ok(false) => {}
                // A file that is half saved must not end the watching.
                Err(error) => println!("{error:#}"),
            }
        }
    }

    pub fn hint(&mut self, name: Option<&str>) -> Result<()> {
        let name = self.chosen(name)?;
        let hints = &self.find(&name)?.hints;
        let mut state = self.progress.started.get(&name).cloned().unwrap_or_default();
        state.hints = (state.hints + 1).min(hints.len());
        for (number, hint) in hints.iter().take(state.hints).enumerate() {
            println!("{} of {}: {}\n", number + 1, hints.len(), hint.trim());
        }
        if state.hints == hints.len() {
            println!("That is all; `just exercise solution` shows one way.");
        }
        self.keep(&name, state)
    }

    pub fn solution(&self, name: Option<&str>) -> Result<()> {
        print!("{}", carets::solution(self.find(&self.chosen(name)?)?)?);
        Ok(())
    }

    pub fn reset(&mut self, name: Option<&str>) -> Result<()> {
        let name = self.chosen(name)?;
        let one = self.find(&name)?;
        let folder = self.folder.join(&name);
        let kept = (1..).map(|n| folder.join(format!("before-reset-{n}")));
        let kept = kept.into_iter().find(|place| !place.exists()).context("numbers do not end")?;
        std::fs::rename(folder.join("src"), &kept)?;
        make::package(one, &folder, &name, &one.files(View::Starter)?)?;
        println!("{name} is as it began; your files are in {}", paths::shown(&kept));
        self.keep(&name, State::default())
    }

    fn find(&self, name: &str) -> Result<&Exercise> {
        self.exercises.iter().find(|one| one.name == name).with_context(|| {
            let names: Vec<&str> = self.exercises.iter().map(|one| one.name.as_str()).collect();
            format!("no exercise {name:?}; there are: {}", names.join(", "))
        })
    }

    /// The exercise that is meant, if it was started.
    fn chosen(&self, name: Option<&str>) -> Result<String> {
        let name = name.or(self.progress.current.as_deref());
        let name =
            name.context("name an exercise: `just exercise start toolchain` is the first")?;
        self.find(name)?;
        if !self.folder.join(name).is_dir() {
            bail!("{name} was not started; `just exercise start {name}` does");
        }
        Ok(name.to_owned())
    }

    fn keep(&mut self, name: &str, state: State) -> Result<()> {
        self.progress.started.insert(name.to_owned(), state);
        let text = serde_json::to_string_pretty(&self.progress)? + "\n";
        house::write(&self.folder.join("progress.json"), &text)
    }

    /// Names the crates that are there.
    fn manifest(&self) -> Result<()> {
        let rust = |one: &&Exercise| {
            one.language == Language::Rust && self.folder.join(&one.name).is_dir()
        };
        let members: Vec<String> =
            self.exercises.iter().filter(rust).map(|one| one.name.clone()).collect();
        house::workspace(&self.folder, &members)
    }

    /// Checks a learner's work and prints what came of it; whether all passed.
    fn look(&mut self, name: &str, json: bool) -> Result<bool> {
        let places = places()?;
        let one = self.find(name)?;
        let folder = self.folder.join(name);
        self.manifest()?;
        let mut all = All::new();
        let runs = runs(one, &places);
        let step = sh::Step::new(format!("building {name}"));
        for place in &places {
            let here = runs.iter().filter(|(_, run)| run.build() == place.build());
            let slots = here.map(|(check, run)| Slot::of(check.kind, &run.build())).collect();
            let job = Job { exercise: one, name: name.into(), folder: folder.clone(), slots };
            make::build(&self.folder, &[job], place, &mut all)?;
        }
        step.done();
        // What does not compile is told once, and not once for each check.
        let broken = all.values().any(Result::is_err);
        let is_broken = |(check, place): &&(&Check, &Ready)| {
            let slot = Slot::of(check.kind, &place.build());
            all.get(&(name.to_owned(), slot)).is_some_and(Result::is_err)
        };
        let runs =
            if broken { runs.iter().filter(is_broken).take(1).copied().collect() } else { runs };
        let work = Work { exercise: one, name, sources: folder.join("src") };
        let mut passed = true;
        pool::in_order(
            &runs,
            pool::cores(),
            |(check, place)| format!("{} {}", check.run, place.build()),
            |(check, place)| work.run(check, place, &all),
            |told| {
                let told = told?;
                passed &= told.ok;
                show::show(&told, json)
            },
        )?;
        let hints = self.progress.started.get(name).map_or(0, |state| state.hints);
        self.keep(name, State { passed, hints })?;
        Ok(passed)
    }

    /// What to do when `name` is done.
    fn after(&self, name: &str) -> String {
        let open = |one: &&Exercise| {
            self.progress.started.get(&one.name).is_none_or(|state| !state.passed)
        };
        let next = self.exercises.iter().skip_while(|one| one.name != name).skip(1).find(open);
        let next = next.map(|one| format!("; next: `just exercise start {}`", one.name));
        format!("{name} is done. Compare with `just exercise solution`{}", next.unwrap_or_default())
    }
}

/// Each check on each of its builds.
fn runs<'a>(one: &'a Exercise, places: &'a [Ready]) -> Vec<(&'a Check, &'a Ready)> {
    let on = |check: &'a Check| {
        let has = |place: &&Ready| check.builds.contains(&place.build());
        places.iter().filter(has).map(move |place| (check, place))
    };
    one.checks.iter().flat_map(on).collect()
}

/// What a learner reads first.
fn readme(one: &Exercise) -> String {
    let mut text = format!("# {}\n\n{}\n", one.title, one.task.trim());
    if let Some(lesson) = &one.lesson {
        text += &format!("\nThe lesson: `book/src/{lesson}.md`.\n");
    }
    text += "\nIt is done when:\n\n";
    for check in &one.checks {
        text += &format!("- {} ({})\n", check.property, check.builds.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "import-cache";

    #[test]
    fn what_a_learner_wrote_is_never_lost() {
        let dir = tempfile::tempdir().unwrap();
        let open = || Workshop::open(dir.path().to_owned()).unwrap();
        let file = dir.path().join(NAME).join("src/lib.rs");
        let text = |path: PathBuf| std::fs::read_to_string(path).unwrap();
        open().start(NAME).unwrap();
        let starter = text(file.clone());
        assert!(!starter.contains("SOLUTION") && !starter.contains("lock_py_attached(py)"));
        std::fs::write(&file, "mine").unwrap();
        open().start(NAME).unwrap();
        assert_eq!(text(file.clone()), "mine");
        open().reset(None).unwrap();
        assert_eq!(text(file.clone()), starter);
        std::fs::write(&file, "mine too").unwrap();
        open().reset(Some(NAME)).unwrap();
        let kept = |n| text(dir.path().join(NAME).join(format!("before-reset-{n}/lib.rs")));
        assert_eq!([kept(1), kept(2)], ["mine", "mine too"]);
    }

    #[test]
    fn a_workshop_goes_on_where_it_is_copied_to() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut one = Workshop::open(here.path().to_owned()).unwrap();
        one.start(NAME).unwrap();
        one.hint(None).unwrap();
        one.hint(None).unwrap();
        let copied = there.path().join("workshop");
        sh::run(std::process::Command::new("cp").arg("-r").arg(here.path()).arg(&copied)).unwrap();
        let places = [here.path(), paths::root()].map(|path| path.display().to_string());
        for entry in walkdir::WalkDir::new(&copied).into_iter().filter_map(Result::ok) {
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            assert!(!places.iter().any(|place| text.contains(place)), "{entry:?}");
        }
        let mut other = Workshop::open(copied).unwrap();
        assert_eq!(other.progress.started[NAME].hints, 2);
        // Starting again takes no hint back.
        other.start(NAME).unwrap();
        other.hint(None).unwrap();
        assert_eq!(other.progress.started[NAME].hints, 3);
    }

    #[test]
    fn what_was_not_started_is_said_to_be_so() {
        let dir = tempfile::tempdir().unwrap();
        let mut one = Workshop::open(dir.path().to_owned()).unwrap();
        for (name, says) in [
            (None, "start toolchain"),
            (Some(NAME), "was not started"),
            (Some("absent"), "there are: toolchain"),
        ] {
            let error = one.hint(name).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn the_next_is_the_first_after_it_that_is_not_done() {
        let dir = tempfile::tempdir().unwrap();
        let mut one = Workshop::open(dir.path().to_owned()).unwrap();
        let names: Vec<String> = one.exercises.iter().map(|one| one.name.clone()).collect();
        one.keep(&names[1], State { passed: true, hints: 0 }).unwrap();
        assert!(one.after(&names[0]).ends_with(&format!("start {}`", names[2])));
        assert!(!one.after(names.last().unwrap()).contains("next"));
    }

    #[test]
    fn the_tasks_fit_the_workshop() {
        for one in text::all().unwrap() {
            assert!((5..=60).contains(&one.minutes), "{}: {} min", one.name, one.minutes);
            let names = text::COMPILES;
            assert!(one.checks.iter().all(|check| check.run != names), "{}", one.name);
        }
    }
}
