//! `models list`, and `models run <lesson> <variant> <build>`: one model, in a process of its own,
//! since loom cannot go on after a deadlock. `cargo xtask model` runs them all and compares how each
//! ends with what its lesson.toml says.
//!
//! The models lie in their lessons' folders and are collected here, so that they build without
//! Python and in seconds.

#[cfg(not(loom))]
fn main() {
    eprintln!("models is built with RUSTFLAGS=\"--cfg loom\"; run `cargo xtask model`");
    std::process::exit(2);
}

#[cfg(loom)]
fn main() -> std::process::ExitCode {
    run::main()
}

#[cfg(loom)]
mod lessons;
#[cfg(loom)]
mod run;
