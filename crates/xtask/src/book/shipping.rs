//! The tables of the chapters on wheels and on the doctor.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Result, bail};

use super::numbers;
use crate::{truth, wheels};

pub fn wheels(what: &str) -> Result<String> {
    let found = wheels::reference()?;
    match what {
        "files" => Ok(table("file", &found.files)),
        "installers" => Ok(table("offered", &found.installers)),
        "costs" => {
            let mut out = String::from(
                "| build | strings | stable ABI | compared with | takes times as long |\n\
                 |---|---|---|---|---|\n",
            );
            for cost in &found.costs {
                let [median, least, greatest] = cost.times;
                let _ = writeln!(
                    out,
                    "| {} | {} | `{}` | `{}` | {median:.2} ({least:.2} to {greatest:.2}) |",
                    cost.build, cost.texts, cost.stable, cost.own
                );
            }
            out += &format!("\n{}", numbers::machine(&found.environment));
            Ok(out)
        }
        _ => bail!("unknown table of wheels: {what}"),
    }
}

fn table(head: &str, rows: &BTreeMap<String, BTreeMap<String, String>>) -> String {
    let builds = wheels::BUILDS;
    let mut out = format!("| {head} | {} |\n|---|{}\n", builds.join(" | "), "---|".repeat(4));
    for (row, outcomes) in rows {
        let cells = builds.map(|build| outcomes.get(build).map_or("not run", |cell| cell));
        let _ = writeln!(out, "| `{row}` | {} |", cells.join(" | "));
    }
    out
}

pub fn truth(what: &str) -> Result<String> {
    let found = truth::reference()?;
    match what {
        "summary" => {
            let counts = &found.counts;
            let mut out = String::from("| | |\n|---|--:|\n");
            for (name, count) in [
                ("distributions", counts.distributions),
                ("of which have extensions", counts.with_extensions),
                ("of which turn the GIL on", counts.turn_on),
                ("extension files that 3.14t loads", counts.extensions),
                ("declare, and keep it off when imported", counts.agree_free),
                ("do not declare, and turn it on when imported", counts.agree_gil),
                ("read one way, imported another", counts.disagree),
                ("cannot tell from the file", counts.cannot_tell),
                ("could not be imported alone", counts.not_imported),
                ("wheels for other builds, refused by the installer", counts.refused),
            ] {
                let _ = writeln!(out, "| {name} | {count} |");
            }
            out += &format!("\n{}", numbers::machine(&found.environment));
            Ok(out)
        }
        "found" => {
            let names: Vec<String> = found
                .distributions
                .iter()
                .filter(|(_, _, status)| status == "turns-on")
                .map(|(name, version, _)| format!("{name} {version}"))
                .collect();
            Ok(format!(
                "Installed from wheels for 3.14t, and turning the GIL on when imported: {}.",
                names.join(", ")
            ))
        }
        "peers" => {
            let mut out = String::from("| | found | missed | false alarms |\n|---|--:|--:|--:|\n");
            for peer in &found.peers {
                let _ = writeln!(
                    out,
                    "| {} | {} | {} | {} |",
                    peer.name, peer.found, peer.missed, peer.false_alarms
                );
            }
            out += "\n";
            for peer in &found.peers {
                let _ = writeln!(out, "- {}: `{}`. {}", peer.name, peer.command, peer.says);
            }
            Ok(out)
        }
        _ => bail!("unknown table of the doctor's truth: {what}"),
    }
}
