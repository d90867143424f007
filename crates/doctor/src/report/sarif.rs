//! SARIF 2.1.0, which code hosts show beside the code: one result a note that is a fault.

use serde_json::{Value, json};

use crate::rules::{Note, Rule};
use crate::scan::Report;
use crate::verdict::Judged;

pub fn render(report: &Report) -> Value {
    let rules: Vec<Value> = Rule::ALL
        .iter()
        .map(|rule| {
            let (level, text) = rule.described();
            json!({
                "id": rule,
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
            "ruleId": Rule::CannotTell,
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
    let (level, _) = note.rule.described();
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
