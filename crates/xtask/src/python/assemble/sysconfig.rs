//! What `sysconfig` answers: Debian's build variables, corrected for this build and this place.

use std::path::Path;

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::super::Build;

pub fn write(debian: &Map<String, Value>, build: Build, lib: &Path, prefix: &Path) -> Result<()> {
    let name = build.name();
    let flag = build.flag();
    let soabi = format!("cpython-3{}{flag}-x86_64-linux-gnu", build.minor);
    let prefix = prefix.display();
    let include = format!("{prefix}/include/python{name}");
    let mut variables = debian.clone();
    for (key, value) in [
        ("Py_GIL_DISABLED", json!(u8::from(build.free_threaded))),
        ("ABIFLAGS", json!(flag)),
        ("SOABI", json!(soabi)),
        ("EXT_SUFFIX", json!(format!(".{soabi}.so"))),
        ("LDVERSION", json!(name)),
        ("Py_ENABLE_SHARED", json!(0)),
        ("prefix", json!(format!("{prefix}"))),
        ("exec_prefix", json!(format!("{prefix}"))),
        ("LIBDIR", json!(format!("{prefix}/lib"))),
        ("BINDIR", json!(format!("{prefix}/bin"))),
        ("INCLUDEPY", json!(include)),
        ("CONFINCLUDEPY", json!(include)),
    ] {
        variables.insert(key.into(), value);
    }
    let stem = format!("{flag}_linux_x86_64-linux-gnu");
    let text = serde_json::to_string_pretty(&variables)?;
    std::fs::write(lib.join(format!("_sysconfig_vars_{stem}.json")), &text)?;
    // Strings and numbers only, so the JSON text is a Python literal as it stands.
    std::fs::write(
        lib.join(format!("_sysconfigdata_{stem}.py")),
        format!("build_time_vars = {text}\n"),
    )?;
    Ok(())
}
