//! What the stable ABI costs: the template's strings by it and by the inline functions, in one
//! process, rounds interleaved.

use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::build::{self, Wheel};
use crate::python::Env;
use crate::sh;

#[derive(Serialize, Deserialize)]
pub struct Cost {
    pub build: String,
    pub stable: String,
    pub own: String,
    pub texts: String,
    /// Time by the stable ABI over time by the build's own: median, least and greatest of the rounds.
    pub times: [f64; 3],
    pub rounds: usize,
    /// Before and after.
    pub gil_enabled: [bool; 2],
}

impl Cost {
    pub fn line(&self) -> String {
        let [median, least, greatest] = self.times;
        format!(
            "{}: {} takes {median:.2} [{least:.2}, {greatest:.2}] times as long as {}, {}",
            self.build, self.stable, self.own, self.texts
        )
    }
}

/// Two modules of one name in one process: each from its own path.
const MEASURE: &str = "
import importlib.util, json, statistics, sys, time
gil = [sys._is_gil_enabled()]
def load(path):
    spec = importlib.util.spec_from_file_location('_native', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
stable, own = load(sys.argv[1]), load(sys.argv[2])
assert stable.strings() == 'stable ABI' and own.strings() == 'inline'
def rounds(make, n=15):
    out = []
    for k in range(n):
        times = {}
        for module in (stable, own) if k % 2 else (own, stable):
            texts = make()
            begin = time.perf_counter()
            module.utf8_lengths(texts)
            times[module] = time.perf_counter() - begin
        out.append(times[stable] / times[own])
    return [statistics.median(out), min(out), max(out)], n
answers = {
    'ASCII': rounds(lambda: ['row %d' % k for k in range(200_000)]),
    'not ASCII': rounds(lambda: ['\\u00fc %d' % k for k in range(200_000)]),
}
gil.append(sys._is_gil_enabled())
print(json.dumps({'answers': answers, 'gil': gil}))
";

#[derive(Deserialize)]
struct Said {
    answers: std::collections::BTreeMap<String, ([f64; 3], usize)>,
    gil: [bool; 2],
}

pub fn measure(wheels: &[Wheel], envs: &[(&str, Env)]) -> Result<Vec<Cost>> {
    let mut out = Vec::new();
    let pairs =
        [("3.14", "abi3", "cp314"), ("3.15", "abi3t", "cp315"), ("3.15t", "abi3t", "cp315t")];
    for (build, stable, own) in pairs {
        let (_, env) = envs.iter().find(|(name, _)| *name == build).context("of the list")?;
        let step = sh::Step::new(format!("what {stable} costs on {build}"));
        let mut command = env.command();
        command
            .args(["-c", MEASURE])
            .arg(&build::named(wheels, stable)?.extension)
            .arg(&build::named(wheels, own)?.extension);
        let output = sh::run_within(&mut command, Duration::from_secs(300))?;
        let said: Said = serde_json::from_slice(&output.stdout)?;
        for (texts, (times, rounds)) in said.answers {
            out.push(Cost {
                build: build.into(),
                stable: stable.into(),
                own: own.into(),
                texts,
                times,
                rounds,
                gil_enabled: said.gil,
            });
        }
        step.done();
    }
    Ok(out)
}
