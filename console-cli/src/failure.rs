//! Failure of a command: a line on stderr with the failed operation and the remedy, and an exit
//! code.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use cargo_turbowish::Program;
use tokio::signal::unix::SignalKind;
use turbowish_model::query::QueryError;
use turbowish_model::snapshot::sanitize;
use turbowish_wire::client::ClientError;

use crate::text;

/// The console, as messages call it.
pub(crate) const PROGRAM: Program = Program {
    name: "turbowish",
    typed: "turbowish",
};

/// The reason why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line or a filter is wrong: exit code 2.
    Usage(String),
    /// The target cannot be reached: exit code 3.
    Target(String),
    /// The terminal or a file cannot be used: exit code 1.
    Local(String),
    /// A failure as `cargo turbowish` has it, too: that of `annotate`, or of stdout.
    Shared(cargo_turbowish::Failure),
    /// The command found and printed what it searched for: exit code 1.
    Found,
    /// A child program ended with this exit code, and has reported the reason itself.
    Ended(u8),
    /// A signal ended the command: no message, and the exit code that shells give.
    Signal(u8),
}

impl Failure {
    pub(crate) fn usage(text: impl Display) -> Self {
        Self::Usage(text.to_string())
    }

    pub(crate) fn target(text: impl Display) -> Self {
        Self::Target(text.to_string())
    }

    /// A local failure: `what` was attempted, and its cause.
    pub(crate) fn local(what: &str, cause: &io::Error) -> Self {
        Self::Local(format!("{what}: {cause}"))
    }

    /// A command that a signal has ended.
    pub(crate) fn signal(kind: SignalKind) -> Self {
        Self::Signal(u8::try_from(kind.as_raw_value()).unwrap_or(0))
    }

    /// The message, without the exit code; empty if there is none.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Usage(text) | Self::Target(text) | Self::Local(text) => text,
            Self::Shared(_) | Self::Found | Self::Ended(_) | Self::Signal(_) => String::new(),
        }
    }

    /// Prints the message, and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let (text, code) = match self {
            Self::Usage(text) => (text, 2),
            Self::Target(text) => (text, 3),
            Self::Local(text) => (text, 1),
            Self::Shared(failure) => return failure.report(&PROGRAM),
            Self::Found => return ExitCode::from(1),
            Self::Ended(code) => return ExitCode::from(code),
            Self::Signal(number) => return ExitCode::from(128 + number),
        };
        note(&text);
        ExitCode::from(code)
    }
}

/// Prints one line on stderr; a closed stderr is not a failure.
pub(crate) fn note(text: &str) {
    PROGRAM.note(text);
}

/// Prints text from a process or a file to stdout, without control sequences for the terminal. All
/// such text goes through this function. Documents are escaped before, and do not change.
///
/// # Errors
/// [`cargo_turbowish::Failure::ClosedPipe`] if the reader has gone.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_own(&sanitize::lines(text))
}

/// The same for lines: each stays one line, whatever the names in it contain.
///
/// # Errors
/// As [`print`].
pub(crate) fn print_lines(lines: &[String]) -> Result<(), Failure> {
    print(&(text::printed(lines) + "\n"))
}

/// Prints text that contains only this program's own words.
///
/// # Errors
/// As [`print`].
pub(crate) fn print_own(text: &str) -> Result<(), Failure> {
    Ok(cargo_turbowish::print(text)?)
}

impl From<cargo_turbowish::Failure> for Failure {
    fn from(failure: cargo_turbowish::Failure) -> Self {
        Self::Shared(failure)
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        Self::usage(error)
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::BadQuery { text } => Self::Usage(text),
            ClientError::NoTask { text } | ClientError::Refused { text } => Self::Local(text),
            other => Self::target(other),
        }
    }
}
