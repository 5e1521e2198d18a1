//! Errors of the client: each message says in one line what failed and what to do about it.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use tonic::{Code, Status};

use crate::convert::Malformed;
use crate::weight::Overweight;
use crate::{DECODED_LIMIT, MESSAGE_LIMIT, PROTOCOL};

/// Why there is no connection, or no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClientError {
    /// No process with this ID runs TurboWish for this user.
    NoProcess {
        /// The requested process ID.
        pid: u32,
        /// Whether a process with this ID exists.
        alive: bool,
    },
    /// No process of this user has this name, or several have.
    Name {
        /// The requested name.
        name: String,
        /// The process IDs of those that have it.
        pids: Vec<u32>,
    },
    /// No connection could be made.
    Unreachable {
        /// The target of the connection.
        target: String,
        /// The operating system's error.
        cause: io::Error,
    },
    /// The process accepts connections, but does not answer.
    Silent {
        /// The target of the connection.
        target: String,
        /// How long the client waited.
        after: Duration,
    },
    /// The process belongs to another user.
    Foreign {
        /// The target of the connection.
        target: String,
        /// User ID of the owner.
        uid: u32,
    },
    /// The other end answers, but is not TurboWish.
    Stranger {
        /// The target of the connection.
        target: String,
        /// How the other end failed.
        cause: String,
    },
    /// The process speaks another protocol.
    Mismatch {
        /// Name of the process.
        name: String,
        /// Its process ID.
        pid: u32,
        /// Its protocol version.
        protocol: u32,
        /// Version of the crate in the process.
        version: String,
    },
    /// The process has not proved that it knows the token.
    Token {
        /// The target of the connection.
        target: String,
    },
    /// No token was given.
    NoToken {
        /// The target of the connection.
        target: String,
    },
    /// The process has the maximum number of consoles.
    Crowded {
        /// Message of the process.
        text: String,
    },
    /// The process rejected the query.
    BadQuery {
        /// Message of the process.
        text: String,
    },
    /// The process is read-only.
    ReadOnly {
        /// Message of the process.
        text: String,
    },
    /// The process has no such task, or not any more.
    NoTask {
        /// Message of the process.
        text: String,
    },
    /// The process refused the request in its present state.
    Refused {
        /// Message of the process.
        text: String,
    },
    /// The process is of a version that cannot do this.
    Older {
        /// The process.
        target: String,
    },
    /// An established connection broke.
    Gone {
        /// The target of the connection.
        target: String,
        /// How the connection ended.
        cause: String,
    },
    /// The process sent a message larger than [`MESSAGE_LIMIT`](crate::MESSAGE_LIMIT).
    TooLarge {
        /// The sender.
        target: String,
    },
    /// A message of the process would exceed [`DECODED_LIMIT`](crate::DECODED_LIMIT) once decoded.
    TooHeavy {
        /// The sender.
        target: String,
    },
    /// A message of the process has no meaning in the protocol.
    Malformed {
        /// The sender.
        target: String,
        /// The field at fault.
        fault: Malformed,
    },
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProcess { pid, alive } => no_process(f, *pid, *alive),
            Self::Name { name, pids } => not_one(f, name, pids),
            Self::Unreachable { target, cause } => write!(
                f,
                "cannot connect to {target}: {cause}; `turbowish ps` lists the processes of this host"
            ),
            Self::Silent { target, after } => silent(f, target, *after),
            Self::Foreign { target, uid } => write!(
                f,
                "{target} belongs to user {uid}, and only that user can attach: \
                 sudo -u '#{uid}' turbowish ..."
            ),
            Self::Stranger { target, cause } => write!(
                f,
                "{target} does not speak the TurboWish protocol ({cause}): is another program there?"
            ),
            Self::Mismatch {
                name,
                pid,
                protocol,
                version,
            } => mismatch(f, &format!("{name} {pid}"), *protocol, version),
            Self::Token { target } => write!(
                f,
                "{target} does not know this token, so nothing was sent to it: TURBOWISH_TOKEN must be the same \
                 here and in the process; if it is, another program has taken the port"
            ),
            Self::NoToken { target } => write!(
                f,
                "{target} requires a token: set TURBOWISH_TOKEN to that of the process"
            ),
            Self::Crowded { text }
            | Self::BadQuery { text }
            | Self::ReadOnly { text }
            | Self::NoTask { text }
            | Self::Refused { text } => f.write_str(text),
            Self::Older { target } => write!(
                f,
                "{target} has a version of TurboWish that cannot do this: update the crate turbowish in it"
            ),
            Self::Gone { target, cause } => write!(f, "{target} is gone ({cause})"),
            Self::TooLarge { target } => write!(
                f,
                "{target} sends more than the {} MiB that this console accepts at once: ask for fewer rows",
                MESSAGE_LIMIT >> 20
            ),
            Self::TooHeavy { target } => write!(
                f,
                "{target} sends rows that take more than the {} MiB of memory that this console has for them: \
                 ask for fewer rows",
                DECODED_LIMIT >> 20
            ),
            Self::Malformed { target, fault } => write!(
                f,
                "{target} sent data that this console does not understand ({fault}): update turbowish-cli"
            ),
        }
    }
}

fn not_one(f: &mut fmt::Formatter<'_>, name: &str, pids: &[u32]) -> fmt::Result {
    if pids.is_empty() {
        return write!(
            f,
            "there is no process {name}: `turbowish ps` lists those you can attach to"
        );
    }
    let each: Vec<String> = pids.iter().map(u32::to_string).collect();
    let (count, each) = (pids.len(), each.join(", "));
    write!(
        f,
        "{count} processes have the name {name}; choose one by its ID: {each}"
    )
}

fn no_process(f: &mut fmt::Formatter<'_>, pid: u32, alive: bool) -> fmt::Result {
    if alive {
        write!(
            f,
            "process {pid} runs, but without TurboWish (or not for you): build it with the feature \
             `server` and call turbowish::init() in its main"
        )
    } else {
        write!(
            f,
            "there is no process {pid}: `turbowish ps` lists those you can attach to"
        )
    }
}

fn silent(f: &mut fmt::Formatter<'_>, target: &str, after: Duration) -> fmt::Result {
    if after.is_zero() {
        write!(f, "{target} accepts no connection")?;
    } else {
        write!(f, "{target} does not answer within {after:?}")?;
    }
    f.write_str(": it may be stopped (SIGSTOP, a debugger), or its machine very busy")
}

fn mismatch(f: &mut fmt::Formatter<'_>, who: &str, theirs: u32, version: &str) -> fmt::Result {
    write!(
        f,
        "{who} speaks protocol {theirs}, this console {PROTOCOL}: "
    )?;
    if theirs > PROTOCOL {
        f.write_str("update turbowish-cli")
    } else {
        write!(f, "update the crate turbowish in it (it has {version})")
    }
}

impl Error for ClientError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreachable { cause, .. } => Some(cause),
            Self::Malformed { fault, .. } => Some(fault),
            _ => None,
        }
    }
}

/// Translates the status of a failed greeting: until then it is unknown whether the other end is
/// TurboWish.
pub(super) fn of_greeting(label: &str, status: &Status) -> ClientError {
    match of_status(label, status) {
        ClientError::Gone { target, cause } => ClientError::Stranger { target, cause },
        // Every version can greet.
        ClientError::Older { target } => ClientError::Stranger {
            target,
            cause: cause_of(status),
        },
        known => known,
    }
}

/// Translates the status of a failed request.
pub(super) fn of_status(label: &str, status: &Status) -> ClientError {
    let target = label.to_owned();
    let text = status.message().to_owned();
    match status.code() {
        Code::InvalidArgument => ClientError::BadQuery { text },
        Code::ResourceExhausted => ClientError::Crowded { text },
        Code::PermissionDenied => ClientError::ReadOnly { text },
        Code::NotFound => ClientError::NoTask { text },
        Code::FailedPrecondition => ClientError::Refused { text },
        Code::Unimplemented => ClientError::Older { target },
        Code::OutOfRange if has_source::<Overweight>(status) => ClientError::TooHeavy { target },
        // Not sent by any monitor: the decoder's status for a message beyond the limit.
        Code::OutOfRange => ClientError::TooLarge { target },
        _ => ClientError::Gone {
            target,
            cause: cause_of(status),
        },
    }
}

fn has_source<E: Error + 'static>(status: &Status) -> bool {
    status.source().is_some_and(|source| source.is::<E>())
}

/// The innermost error text: the outer errors are the layers that it passed through.
fn cause_of(status: &Status) -> String {
    match status.source() {
        Some(source) => chain(source),
        None if status.message().is_empty() => status.code().description().to_owned(),
        None => status.message().to_owned(),
    }
}

pub(super) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tonic::{Code, Status};

    use super::{ClientError, of_greeting, of_status};

    #[test]
    fn errors_say_what_to_do() {
        let mismatch = |protocol| ClientError::Mismatch {
            name: "kv".into(),
            pid: 4242,
            protocol,
            version: "0.0.9".into(),
        };
        for (error, expected) in [
            (
                mismatch(3),
                "kv 4242 speaks protocol 3, this console 1: update turbowish-cli",
            ),
            (
                mismatch(0),
                "kv 4242 speaks protocol 0, this console 1: update the crate turbowish in it (it has 0.0.9)",
            ),
            (
                ClientError::Silent {
                    target: "process 7".into(),
                    after: Duration::from_secs(1),
                },
                "process 7 does not answer within 1s: it may be stopped (SIGSTOP, a debugger), or its \
                 machine very busy",
            ),
            (
                ClientError::Foreign {
                    target: "process 7".into(),
                    uid: 33,
                },
                "process 7 belongs to user 33, and only that user can attach: sudo -u '#33' turbowish ...",
            ),
            (
                ClientError::Token {
                    target: "127.0.0.1:6680".into(),
                },
                "127.0.0.1:6680 does not know this token, so nothing was sent to it: TURBOWISH_TOKEN must be the same \
                 here and in the process; if it is, another program has taken the port",
            ),
            (
                ClientError::NoToken {
                    target: "127.0.0.1:6680".into(),
                },
                "127.0.0.1:6680 requires a token: set TURBOWISH_TOKEN to that of the process",
            ),
            (
                ClientError::Name {
                    name: "kv".into(),
                    pids: vec![7, 9],
                },
                "2 processes have the name kv; choose one by its ID: 7, 9",
            ),
            (
                ClientError::NoProcess {
                    pid: 7,
                    alive: false,
                },
                "there is no process 7: `turbowish ps` lists those you can attach to",
            ),
        ] {
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn codes_have_one_meaning() {
        let name = |error: ClientError| {
            let text = format!("{error:?}");
            text.split([' ', '(']).next().unwrap_or_default().to_owned()
        };
        for (code, expected, greeting) in [
            (Code::InvalidArgument, "BadQuery", "BadQuery"),
            (Code::ResourceExhausted, "Crowded", "Crowded"),
            (Code::PermissionDenied, "ReadOnly", "ReadOnly"),
            (Code::NotFound, "NoTask", "NoTask"),
            (Code::FailedPrecondition, "Refused", "Refused"),
            (Code::OutOfRange, "TooLarge", "TooLarge"),
            (Code::Unavailable, "Gone", "Stranger"),
            (Code::Internal, "Gone", "Stranger"),
            (Code::Unimplemented, "Older", "Stranger"),
        ] {
            let status = Status::new(code, "text");
            assert_eq!(name(of_status("kv 7", &status)), expected, "{code:?}");
            assert_eq!(name(of_greeting("kv 7", &status)), greeting, "{code:?}");
        }
    }
}
