//! The machine that a result comes from.

use anyhow::Result;

use super::results::Environment;

pub fn here() -> Result<Environment> {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let commit = super::said("git", &["rev-parse", "--short", "HEAD"]);
    let dirty = !super::said("git", &["status", "--porcelain"]).is_empty();
    Ok(Environment {
        date: super::said("date", &["-u", "+%Y-%m-%d"]),
        commit: if dirty { format!("{commit} with changes") } else { commit },
        cpu: cpu.map_or_else(|| "unknown".into(), |(_, name)| name.trim().to_owned()),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        kernel: super::said("uname", &["-sr"]),
        profile: String::new(),
        processes: vec![],
        not_run: vec![],
    })
}
