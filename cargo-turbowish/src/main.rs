//! The program `cargo-turbowish`, which cargo runs as `cargo turbowish`.

use std::ffi::OsString;
use std::process::ExitCode;

use cargo_turbowish::{AnnotateArgs, Program, examples, long_help};
use clap::{Parser, Subcommand};

const PROGRAM: Program = Program {
    name: "cargo-turbowish",
    typed: "cargo turbowish",
};

const EXAMPLES: &str = "\
Examples:
  cargo turbowish annotate                add the attribute to every async fn
                                          of the current package
  cargo turbowish annotate --dry-run      what that would change
  cargo turbowish annotate --check        a lint: exit code 1 if it finds something
  cargo turbowish annotate --help         patterns, and more examples

While the program runs, the console shows it: turbowish";

/// Prepares a crate for TurboWish: what occupies the event loop of an async Rust program.
#[derive(Debug, Parser)]
#[command(
    name = "cargo-turbowish",
    bin_name = "cargo turbowish",
    version,
    after_help = EXAMPLES,
    max_term_width = 100
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add the attribute to every async fn of a crate, or find those without it
    #[command(after_help = examples(&PROGRAM), after_long_help = long_help(&PROGRAM))]
    Annotate(AnnotateArgs),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse_from(arguments()) {
        Ok(cli) => cli,
        Err(answer) => return PROGRAM.answer(&answer),
    };
    let Command::Annotate(args) = cli.command;
    match cargo_turbowish::annotate(&args, &PROGRAM) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(&PROGRAM),
    }
}

/// The command line. Cargo passes the name of its subcommand as the first argument.
fn arguments() -> Vec<OsString> {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == "turbowish") {
        arguments.remove(1);
    }
    arguments
}
