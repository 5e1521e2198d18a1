//! The console `turbowish`: every command ends in an exit code, and if that is not 0, with a message that says what to do.

mod annotate;
mod args;
mod check;
mod columns;
mod debug;
#[cfg(feature = "demo")]
mod demo;
mod diff;
mod failure;
#[doc(hidden)]
pub mod fuzzing;
mod paper;
mod pause;
mod plain;
mod ps;
mod query;
mod record;
mod saved;
mod sheet;
mod signals;
mod source;
mod text;
mod top;
mod tui;
mod watch;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};

/// Runs the command of the process's command line.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(answer) => return failure::of_command_line(&answer),
    };
    let token = cli.token.as_deref();
    let result = match cli.command.unwrap_or_default() {
        Command::Top(args) => top::run(&args, token),
        Command::Ps => ps::run(),
        Command::Query(args) => query::run(&args, token),
        Command::Tree(args) => record::tree(&args, token),
        Command::Check(args) => check::run(&args, token),
        Command::Watch(args) => watch::run(&args, token),
        Command::Diff(args) => diff::run(&args),
        Command::Pause(args) => pause::pause(&args, token),
        Command::Resume(args) => pause::resume(&args, token),
        Command::Debug(args) => debug::run(&args, token),
        Command::Annotate(args) => annotate::run(&args),
        #[cfg(feature = "demo")]
        Command::Demo(view) => top::demo(&view),
        Command::Completions { shell } => paper::completions(shell),
        Command::Man { out } => paper::man(out.as_deref()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
