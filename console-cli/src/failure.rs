//! Failure of a command: a line on stderr with the failed operation and the remedy, and an exit
//! code.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use tokio::signal::unix::SignalKind;
use turbowish_model::query::QueryError;
use turbowish_model::snapshot::sanitize;
use turbowish_wire::client::ClientError;

use crate::text;

/// The reason why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line or a filter is wrong: exit code 2.
    Usage(String),
    /// The target cannot be reached: exit code 3.
    Target(String),
    /// The terminal or a file cannot be used: exit code 1.
    Local(String),
    /// The same because of several things, a line for each: exit code 1.
    Several(String, Vec<String>),
    /// What was looked for was found, and has been printed: exit code 1.
    Found,
    /// A program that we ran has ended so, and has said why itself.
    Ended(u8),
    /// Whoever read our output has gone: nothing to say.
    ClosedPipe,
    /// A signal ended it: nothing to say, and the exit code that shells give.
    Signal(u8),
}

impl Failure {
    pub(crate) fn usage(text: impl Display) -> Self {
        Self::Usage(text.to_string())
    }

    pub(crate) fn target(text: impl Display) -> Self {
        Self::Target(text.to_string())
    }

    /// Something of this machine, and what we wanted of it.
    pub(crate) fn local(what: &str, cause: &io::Error) -> Self {
        Self::Local(format!("{what}: {cause}"))
    }

    /// A signal ended it.
    pub(crate) fn signal(kind: SignalKind) -> Self {
        Self::Signal(u8::try_from(kind.as_raw_value()).unwrap_or(0))
    }

    /// Says it, and gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let (text, code) = match self {
            Self::Usage(text) => (text, 2),
            Self::Target(text) => (text, 3),
            Self::Local(text) => (text, 1),
            Self::Several(text, things) => {
                note(&text);
                for thing in things {
                    let _ = writeln!(io::stderr(), "  {}", sanitize::line(&thing));
                }
                return ExitCode::from(1);
            }
            Self::Found => return ExitCode::from(1),
            Self::Ended(code) => return ExitCode::from(code),
            Self::ClosedPipe => return ExitCode::SUCCESS,
            Self::Signal(number) => return ExitCode::from(128 + number),
        };
        note(&text);
        ExitCode::from(code)
    }
}

/// Prints help where it was asked for; else says what is wrong with the command line.
pub(crate) fn of_command_line(answer: &clap::Error) -> ExitCode {
    if !answer.use_stderr() {
        // A closed pipe is no failure.
        let _ = answer.print();
        return ExitCode::SUCCESS;
    }
    let text = answer.render().to_string();
    let text = text.trim_start_matches("error: ").trim_end();
    // The usage stands on lines of its own.
    let _ = writeln!(io::stderr(), "turbowish: {}", sanitize::lines(text));
    ExitCode::from(2)
}

/// One line on stderr; if nobody reads it, that is no failure of its own.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "turbowish: {}", sanitize::line(text));
}

/// The one way to stdout for what came from a process or a file: a terminal obeys nothing of it. Documents escape it in their own
/// way before, and come through as they are.
///
/// # Errors
/// [`Failure::ClosedPipe`] if the reader has gone.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_own(&sanitize::lines(text))
}

/// The same for lines: each stays one, whatever the names in it hold.
///
/// # Errors
/// As [`print`].
pub(crate) fn print_lines(lines: &[String]) -> Result<(), Failure> {
    print(&(text::printed(lines) + "\n"))
}

/// Writes what this program has made of its own words alone.
///
/// # Errors
/// As [`print`].
pub(crate) fn print_own(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|cause| match cause.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::local("cannot write to stdout", &cause),
        })
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
