//! The pattern alone, outside the workspace: see `cargo xtask test copies`.

mod after;

pub use after::rust_declared;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod copied {
    use super::*;

    #[pyfunction]
    fn count() -> u64 {
        after::count()
    }
}
