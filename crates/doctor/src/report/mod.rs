//! A report for people, for scripts (`--json` is the report itself) and for code scanners.

pub mod sarif;
pub mod tree;
