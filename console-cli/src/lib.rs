//! The console `turbowish`. Every command ends with an exit code; if it is not 0, a message states
//! the remedy.

mod args;
mod columns;
mod commands;
#[cfg(feature = "demo")]
mod demo;
mod detail;
mod explain;
mod export;
mod failure;
mod footer;
#[doc(hidden)]
pub mod fuzzing;
mod history;
mod man;
mod plain_text;
mod recording;
mod report_file;
mod sheet;
mod signals;
mod source;
mod text;
mod theme;
mod top;
mod tui;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::commands::{check, debug, diff, pause, ps, query, record, snapshot, watch};
use crate::failure::{Failure, PROGRAM};

/// Runs the command of the process's command line.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(answer) => return PROGRAM.answer(&answer),
    };
    let token = cli.token.as_deref();
    let result = match cli.command.unwrap_or_default() {
        Command::Top(args) => top::run(&args, token),
        Command::Ps => ps::run(),
        Command::Recover(args) => commands::recover::run(&args),
        Command::Query(args) => query::run(&args, token),
        Command::Tree(args) => detail::tree(&args, token),
        Command::Explain { alert } => explain::run(&alert),
        Command::Check(args) => check::run(&args, token),
        Command::Watch(args) => watch::run(&args, token),
        Command::Record(args) => record::run(&args, token),
        Command::Snapshot(args) => snapshot::run(&args, token),
        Command::Export(args) => commands::export::run(&args, token),
        Command::History(args) => commands::history::run(&args, token),
        Command::Diff(args) => diff::run(&args),
        Command::Pause(args) => pause::pause(&args, token),
        Command::Resume(args) => pause::resume(&args, token),
        Command::Debug(args) => debug::run(&args, token),
        Command::Annotate(args) => {
            cargo_turbowish::annotate(&args, &PROGRAM).map_err(Failure::from)
        }
        #[cfg(feature = "demo")]
        Command::Demo(args) => top::demo(&args),
        Command::Completions { shell } => man::completions(shell),
        Command::Man { out } => man::man(out.as_deref()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
