//! Content hashes: what decides whether a build or an environment is still the right one.

use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

fn hex(digest: impl AsRef<[u8]>) -> String {
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn text(text: &str) -> String {
    hex(Sha256::digest(text))
}

/// Every file below the given files and folders, by name and content, in a fixed order.
pub fn tree(roots: &[&Path], without: &[&str]) -> Result<String> {
    let mut sum = Sha256::new();
    for root in roots {
        let wanted = |name: &std::ffi::OsStr| !without.iter().any(|skipped| name == *skipped);
        let walk = WalkDir::new(root).sort_by_file_name();
        for entry in walk.into_iter().filter_entry(|entry| wanted(entry.file_name())) {
            let entry = entry.with_context(|| format!("reading {}", root.display()))?;
            if entry.file_type().is_file() {
                sum.update(entry.path().as_os_str().as_encoded_bytes());
                sum.update([0]);
                sum.update(std::fs::read(entry.path())?);
                sum.update([0]);
            }
        }
    }
    Ok(hex(sum.finalize()))
}
