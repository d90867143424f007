//! Facts about distributions that no file tells: see `data/known.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

#[derive(Deserialize)]
struct Known {
    declines: Vec<Declines>,
    native: Vec<Native>,
}

/// A distribution whose authors refuse free-threaded builds.
#[derive(Deserialize)]
pub struct Declines {
    name: String,
    pub what: String,
    pub source: String,
    pub date: String,
}

/// A distribution that has a native part in some of its wheels.
#[derive(Deserialize)]
pub struct Native {
    name: String,
    pub module: String,
    pub source: String,
    pub date: String,
}

// Read-only after its first use.
static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    toml::from_str(include_str!("../data/known.toml")).expect("the file is part of the program")
});

/// As the index compares names: case, `-`, `_` and `.` do not count.
fn same(a: &str, b: &str) -> bool {
    let plain = |name: &str| name.to_lowercase().replace(['_', '.'], "-");
    plain(a) == plain(b)
}

pub fn declines(name: &str) -> Option<&'static Declines> {
    KNOWN.declines.iter().find(|one| same(&one.name, name))
}

pub fn native_part(name: &str) -> Option<&'static Native> {
    KNOWN.native.iter().find(|one| same(&one.name, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_compare_as_the_index_compares_them() {
        assert_eq!(native_part("pyyaml").unwrap().module, "yaml._yaml");
        assert!(declines("OrJson").is_some() && declines("numpy").is_none());
    }

    #[test]
    fn each_fact_has_its_source_and_its_day() {
        let mut dates: Vec<&str> = KNOWN.native.iter().map(|one| one.date.as_str()).collect();
        dates.extend(KNOWN.declines.iter().map(|one| one.date.as_str()));
        assert!(dates.iter().all(|date| date.len() == 10 && date.starts_with("20")));
        assert!(KNOWN.native.iter().all(|one| !one.source.is_empty()));
    }
}
