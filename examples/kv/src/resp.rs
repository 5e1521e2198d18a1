//! RESP2: requests in, replies out. Nothing here does I/O, and nothing is allocated before its bytes have arrived.

mod inline;
mod reply;
mod request;

use std::fmt;

pub(crate) use reply::{Reply, parse_reply};
pub(crate) use request::{Limits, Request, Requests};

/// Bytes that are not RESP2, or more of them than allowed. The connection cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProtocolError {
    /// The number of arguments is not a number, or out of its limits.
    ArgumentCount,
    /// The length of a bulk string is not a number, or out of its limits.
    BulkLength,
    /// All arguments of a request together exceed this many bytes.
    TooLarge(usize),
    /// A line does not end within its limit.
    LineTooLong,
    /// An argument does not begin with a dollar sign: holds the byte that stands there.
    ExpectedBulk(u8),
    /// A reply begins with a byte that is no RESP2 type.
    UnknownType(u8),
    /// An integer reply or a length is not a number.
    Number,
    /// A bulk string has no line end behind it.
    Unterminated,
    /// A quoted argument of an inline command does not end, or is not followed by a blank.
    Quotes,
    /// Arrays within arrays within arrays.
    TooDeep,
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Protocol error: ")?;
        match self {
            ProtocolError::ArgumentCount => f.write_str("invalid multibulk length"),
            ProtocolError::BulkLength => f.write_str("invalid bulk length"),
            ProtocolError::TooLarge(limit) => write!(f, "request exceeds {limit} bytes"),
            ProtocolError::LineTooLong => f.write_str("line too long"),
            ProtocolError::ExpectedBulk(byte) => {
                write!(f, "expected '$', got '{}'", byte.escape_ascii())
            }
            ProtocolError::UnknownType(byte) => {
                write!(f, "unknown type '{}'", byte.escape_ascii())
            }
            ProtocolError::Number => f.write_str("invalid number"),
            ProtocolError::Unterminated => f.write_str("bulk string without line end"),
            ProtocolError::Quotes => f.write_str("unbalanced quotes in request"),
            ProtocolError::TooDeep => f.write_str("arrays nested too deeply"),
        }
    }
}

impl std::error::Error for ProtocolError {}

/// The first line of `bytes` without its end, and the bytes up to and with the end; `None`: not all there.
fn line(bytes: &[u8], limit: usize) -> Result<Option<(&[u8], usize)>, ProtocolError> {
    let seen = &bytes[..bytes.len().min(limit)];
    match seen.iter().position(|&byte| byte == b'\n') {
        Some(end) => {
            let line = &seen[..end];
            Ok(Some((line.strip_suffix(b"\r").unwrap_or(line), end + 1)))
        }
        None if bytes.len() >= limit => Err(ProtocolError::LineTooLong),
        None => Ok(None),
    }
}
