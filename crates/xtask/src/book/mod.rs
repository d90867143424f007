//! `cargo xtask book`: mdBook as a library, so that its version is the one in Cargo.lock.

mod links;
mod models;
mod numbers;
mod preprocess;
mod shipping;

use std::path::PathBuf;

use anyhow::{Context, Result};
use mdbook_driver::MDBook;

use crate::{paths, sh};

/// Builds the book into `.ungil/book` and checks every link, with fragments, offline.
pub fn build() -> Result<PathBuf> {
    let step = sh::Step::new("building the book");
    let mut book = MDBook::load(paths::root().join("book"))
        .map_err(|error| error.context("book/book.toml or book/src/SUMMARY.md"))?;
    let out = paths::local("book");
    book.config.build.build_dir = out.clone();
    book.with_preprocessor(preprocess::Sources);
    book.build().context("the book does not build; the chapter is named above")?;
    let checked = links::check(&out)?;
    step.done();
    println!("{}  ({checked} links checked)", paths::shown(&out.join("index.html")));
    Ok(out)
}
