//! Failure of a command: a line with the failed operation and the remedy, and an exit code.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use crate::program::Program;

/// The reason why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The command line is wrong, or names no package: exit code 2.
    Usage(String),
    /// A file cannot be used, or the check found something: exit code 1.
    Local(String),
    /// Several local causes, a line for each: exit code 1.
    Several(String, Vec<String>),
    /// The reader of the output has gone: no message, exit code 0.
    ClosedPipe,
}

impl Failure {
    pub(crate) fn usage(text: impl Display) -> Self {
        Self::Usage(text.to_string())
    }

    /// A local failure: `what` was attempted, and its cause.
    pub(crate) fn local(what: &str, cause: &io::Error) -> Self {
        Self::Local(format!("{what}: {cause}"))
    }

    /// Prints the message, and returns the exit code.
    #[must_use]
    pub fn report(self, program: &Program) -> ExitCode {
        match self {
            Self::Usage(text) => {
                program.note(&text);
                return ExitCode::from(2);
            }
            Self::Local(text) => program.note(&text),
            Self::Several(text, lines) => program.note_lines(&text, &lines),
            Self::ClosedPipe => return ExitCode::SUCCESS,
        }
        ExitCode::FAILURE
    }
}
