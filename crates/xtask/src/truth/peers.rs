//! What published tools say of the same distributions: which would turn the GIL on?
//!
//! `abi3t-doctor` reads symbols and answers whether a file loads; `ft-readiness` imports modules that
//! its user names, here the distribution's own; the rule of the wheel trackers looks at tags. None of
//! them was made for this question alone: the chapter says so.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{LIMIT, list};
use crate::python::{self, Env};
use crate::sh;

/// One tool, or our own.
#[derive(Serialize, Deserialize)]
pub struct Peer {
    pub name: String,
    pub command: String,
    pub found: usize,
    pub missed: usize,
    pub false_alarms: usize,
    /// What it is asked, in its own terms.
    pub says: String,
}

/// The truth is what the imports came to; `report` has it.
pub fn ask(report: &Value, env: &Env) -> Result<Vec<Peer>> {
    let mut turn_on = BTreeSet::new();
    let mut read = BTreeSet::new();
    let mut by_tag = BTreeSet::new();
    let mut modules = Vec::new();
    for one in list(report, "distributions")? {
        let name = plain(one["name"].as_str().unwrap_or_default());
        if one["status"] == "turns-on" {
            turn_on.insert(name.clone());
        }
        let extensions = list(one, "extensions")?;
        if extensions.iter().any(|one| one["declares"]["says"] == "gil") {
            read.insert(name.clone());
        }
        if !extensions.is_empty() && one["tagged_free_threaded"] != true {
            by_tag.insert(name.clone());
        }
        let top = |one: &Value| {
            Some(one["module"].as_str()?.split('.').next().unwrap_or_default().to_owned())
        };
        let tops: BTreeSet<String> = extensions.iter().filter_map(top).collect();
        modules.extend(tops.into_iter().map(|top| (name.clone(), top)));
    }
    let peer = |name: &str, command: &str, flagged: &BTreeSet<String>, says: &str| Peer {
        name: name.into(),
        command: command.into(),
        found: flagged.intersection(&turn_on).count(),
        missed: turn_on.difference(flagged).count(),
        false_alarms: flagged.difference(&turn_on).count(),
        says: says.into(),
    };
    let tools = python::lint_environment()?;
    Ok(vec![
        peer(
            "ungil-doctor --static",
            "ungil-doctor --static ENV",
            &read,
            "Reads what each extension declares; nothing is imported.",
        ),
        peer(
            "ft-readiness 0.1.0",
            "ft-readiness --import PACKAGE",
            &imported(&tools, env, &modules)?,
            "Imports what its user names, here each distribution's packages, and sees the warning. \
             An extension that the package itself does not import is not seen.",
        ),
        peer(
            "abi3t-doctor 0.1.0",
            "abi3t-doctor env --target 3.14t --path SITE-PACKAGES",
            &blocking(&tools, env)?,
            "Asks whether each file loads, which these do.",
        ),
        peer(
            "tags, as wheel trackers read them",
            "the ABI tag of the wheel ends in `t`",
            &by_tag,
            "Asks whether there is a wheel for the free-threaded build.",
        ),
    ])
}

fn plain(name: &str) -> String {
    name.to_lowercase().replace(['_', '.'], "-")
}

/// Where an environment has its packages.
fn packages(env: &Env) -> Result<String> {
    let ask = "import sysconfig; print(sysconfig.get_path('purelib'), end='')";
    let said = sh::run(env.command().args(["-c", ask]))?;
    Ok(String::from_utf8(said.stdout)?)
}

/// Distributions of which an import turned the GIL on, by ft-readiness in the interpreter asked about.
fn imported(tools: &Env, env: &Env, modules: &[(String, String)]) -> Result<BTreeSet<String>> {
    let step = sh::Step::new("asking ft-readiness");
    let nothing = tempfile::tempdir()?;
    let mut flagged = BTreeSet::new();
    for (distribution, module) in modules {
        let run = "import sys; sys.path.append(sys.argv.pop(1)); \
                   from ft_readiness.cli import main; sys.exit(main())";
        let mut command = env.command();
        command.args(["-c", run]).arg(packages(tools)?);
        command.args(["--import", module, "--format", "json"]).arg(nothing.path());
        let output = sh::output_within(&mut command, LIMIT)?;
        let said: Value = serde_json::from_slice(&output.stdout).with_context(|| {
            format!("ft-readiness: {}", String::from_utf8_lossy(&output.stderr))
        })?;
        if list(&said, "runtime_checks")?.iter().any(|one| one["status"] == "gil_reenabled") {
            flagged.insert(distribution.clone());
        }
    }
    step.done();
    Ok(flagged)
}

fn blocking(tools: &Env, env: &Env) -> Result<BTreeSet<String>> {
    let mut command = Command::new(tools.program("abi3t-doctor"));
    command.args(["env", "--target", "3.14t", "--format", "json", "--path"]);
    command.arg(Path::new(&packages(env)?));
    let output = sh::output_within(&mut command, LIMIT)?;
    let said: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("abi3t-doctor: {}", String::from_utf8_lossy(&output.stderr)))?;
    Ok(list(&said, "distributions")?
        .iter()
        .filter(|one| one["blocks_migration"] == true)
        .map(|one| plain(one["name"].as_str().unwrap_or_default()))
        .collect())
}
