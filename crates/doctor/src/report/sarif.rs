//! SARIF 2.1.0, which code hosts show beside the code: one result a note that is a fault.

use serde_json::{Value, json};

use crate::scan::Report;
use crate::verdict::{Judged, Note};

const RULES: [(&str, &str, &str); 9] = [
    ("turns-the-gil-on", "error", "An extension does not declare that it needs no GIL."),
    ("no-extension-for-build", "error", "No extension of the distribution is for the build."),
    ("no-wheel-for-build", "error", "The index has no wheel for the build."),
    ("abi3-on-free-threaded", "error", "A .abi3.so lies where a free-threaded build tries it."),
    (
        "tag-and-binary-differ",
        "error",
        "A wheel tagged for free threads has an undeclared extension.",
    ),
    ("mixed", "warning", "Some extensions of a distribution declare it and others do not."),
    ("pure-fallback", "warning", "The pure-Python part of what has a native one is installed."),
    ("cannot-tell", "warning", "What an extension declares could not be read."),
    ("declines", "note", "The authors refuse free-threaded builds."),
];

pub fn render(report: &Report) -> Value {
    let rules: Vec<Value> = RULES
        .iter()
        .map(|(id, level, text)| {
            json!({
                "id": id,
                "shortDescription": {"text": text},
                "defaultConfiguration": {"level": level},
            })
        })
        .collect();
    let mut results: Vec<Value> = Vec::new();
    for one in &report.distributions {
        results.extend(one.notes.iter().map(|note| result(one, note)));
    }
    for (name, why) in &report.failed {
        results.push(json!({
            "ruleId": "cannot-tell",
            "level": "warning",
            "message": {"text": format!("{name}: {why}")},
        }));
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "ungil-doctor",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": results,
        }],
    })
}

fn result(one: &Judged, note: &Note) -> Value {
    let level = RULES.iter().find(|(id, ..)| *id == note.rule).map_or("warning", |rule| rule.1);
    // The file that the note begins with, or the first of the distribution.
    let path = one
        .extensions
        .iter()
        .find(|e| {
            note.text.starts_with(&e.path) || note.text.starts_with(&format!("{}:", e.module))
        })
        .or(one.extensions.first())
        .map_or(one.name.as_str(), |extension| extension.path.as_str());
    json!({
        "ruleId": note.rule,
        "level": level,
        "message": {"text": format!("{} {}: {}", one.name, one.version, note.text)},
        "locations": [{"physicalLocation": {"artifactLocation": {
            "uri": path.replace(' ', "%20"),
        }}}],
    })
}
