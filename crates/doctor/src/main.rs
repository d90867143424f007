use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(doctor::cli::main(std::env::args_os(), &mut std::io::stdout().lock()))
}
