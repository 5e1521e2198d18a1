//! Errors of commands; `Display` is the text that goes over the wire after the minus sign.

use std::fmt;

/// Why a command was refused. The connection stays usable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The key holds a value of another type.
    WrongType,
    /// Unknown option, or options that exclude each other.
    Syntax,
    /// An argument, or the value of a counter, is not a canonical 64-bit integer.
    NotAnInteger,
    /// The counter would leave the 64-bit range.
    Overflow,
    /// A count below zero.
    NotPositive,
    /// A time to live of zero or less, or beyond the clock's range. Holds the command's name.
    InvalidExpire(&'static str),
    /// Too few or too many arguments. Holds the command's name.
    WrongArity(String),
    /// No such command. Holds what was asked for, shortened and printable.
    UnknownCommand(String),
    /// The command is known, its subcommand is not.
    UnknownSubcommand {
        /// The command's name.
        command: &'static str,
        /// What was asked for, shortened and printable.
        subcommand: String,
    },
    /// `SELECT` of a database other than 0.
    NoSuchDatabase,
    /// `HELLO` with a protocol other than 2.
    NoSuchProtocol,
    /// `CLIENT SETNAME` with blanks or control characters.
    InvalidClientName,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::WrongType => {
                f.write_str("WRONGTYPE Operation against a key holding the wrong kind of value")
            }
            Refusal::Syntax => f.write_str("ERR syntax error"),
            Refusal::NotAnInteger => f.write_str("ERR value is not an integer or out of range"),
            Refusal::Overflow => f.write_str("ERR increment or decrement would overflow"),
            Refusal::NotPositive => f.write_str("ERR value is out of range, must be positive"),
            Refusal::InvalidExpire(command) => {
                write!(f, "ERR invalid expire time in '{command}' command")
            }
            Refusal::WrongArity(command) => {
                write!(f, "ERR wrong number of arguments for '{command}' command")
            }
            Refusal::UnknownCommand(name) => write!(f, "ERR unknown command '{name}'"),
            Refusal::UnknownSubcommand {
                command,
                subcommand,
            } => write!(f, "ERR unknown subcommand '{subcommand}' of '{command}'"),
            Refusal::NoSuchDatabase => f.write_str("ERR DB index is out of range"),
            Refusal::NoSuchProtocol => f.write_str("NOPROTO unsupported protocol version"),
            Refusal::InvalidClientName => {
                f.write_str("ERR a client name holds printable characters without blanks only")
            }
        }
    }
}

impl std::error::Error for Refusal {}
