//! Where things are. Everything that is made at run time lives under `.ungil/` in the checkout.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The root of the checkout.
pub fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        here.ancestors().nth(2).expect("crates/xtask lies two levels below the root").to_path_buf()
    })
}

/// A path below the git-ignored folder of this checkout; its parent exists on return.
pub fn local(relative: &str) -> PathBuf {
    let path = root().join(".ungil").join(relative);
    if let Some(parent) = path.parent() {
        // A failure shows where the path is used, with a better message than could be given here.
        let _ = std::fs::create_dir_all(parent);
    }
    path
}

/// The path as a reader should see it: relative to the checkout where it lies inside.
pub fn shown(path: &Path) -> String {
    let inside = path.strip_prefix(root()).unwrap_or(path);
    // Without the dot that names a folder as a folder.
    inside.components().collect::<PathBuf>().display().to_string()
}
