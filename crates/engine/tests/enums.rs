//! The numbers that cross the bridge: each enum stands in C++ and in Rust, and both must count alike.

use std::path::Path;

/// The names of an enum's variants, in the order of their numbers.
fn variants(file: &str, head: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let from = text.find(head).unwrap_or_else(|| panic!("{file} has no {head:?}"));
    let body = text[from..].split_once('{').unwrap().1.split_once('}').unwrap().0;
    body.lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .filter(|line| !line.trim_start().starts_with('#'))
        .flat_map(|line| line.split(','))
        .map(|word| word.trim().to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

#[test]
fn types_have_the_same_numbers() {
    // Arrow's names there, SQL's here.
    let here = |name: String| match name.as_str() {
        "Utf8" => "String".into(),
        "Binary" => "Bytes".into(),
        "Date32" => "Date".into(),
        "TimestampUs" => "Timestamp".into(),
        _ => name,
    };
    let there = variants("../../cpp/engine/include/engine/column.h", "enum class Type");
    let there: Vec<String> = there.into_iter().map(here).collect();
    assert_eq!(there, variants("src/types.rs", "pub enum Type"));
    assert_eq!(there.len(), engine::Type::ALL.len());
    for (number, kind) in engine::Type::ALL.into_iter().enumerate() {
        assert_eq!(kind as usize, number);
    }
}

#[test]
fn operations_have_the_same_numbers() {
    let there = variants("../../cpp/engine/include/engine/expr.h", "enum class Op");
    assert_eq!(there, variants("src/plan.rs", "enum Op"));
}

#[test]
fn aggregates_have_the_same_numbers() {
    let there = variants("../../cpp/engine/include/engine/query.h", "enum class Aggregate");
    assert_eq!(there, variants("src/plan.rs", "pub enum Aggregate"));
}
