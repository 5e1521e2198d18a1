//! Replies in both directions: the server writes them, the load generator reads them.

use crate::db::{Blob, parse_integer};
use crate::resp::{ProtocolError, line};

/// Arrays within arrays that a reply may hold. `COMMAND` answers with two levels.
const MAX_DEPTH: usize = 8;

/// A status, error, integer or length line.
const MAX_LINE: usize = 64 * 1024;

/// Elements of an array, and bytes of a bulk string, that a reply may announce.
const MAX_LENGTH: usize = 512 * 1024 * 1024;

/// What the server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// `+text`: one line.
    Status(&'static str),
    /// `-text`: one line; line ends in it become blanks.
    Error(String),
    /// `:number`.
    Integer(i64),
    /// `$length` and bytes.
    Bulk(Blob),
    /// `$-1`: no value.
    Null,
    /// `*-1`: no array.
    NullArray,
    /// `*count` and replies.
    Array(Vec<Reply>),
}

impl Reply {
    /// What most commands say when they are done.
    pub(crate) const OK: Reply = Reply::Status("OK");

    /// A number of things.
    pub(crate) fn count(count: usize) -> Reply {
        Reply::Integer(i64::try_from(count).unwrap_or(i64::MAX))
    }

    /// A bulk string with this text.
    pub(crate) fn text(text: &str) -> Reply {
        Reply::Bulk(Blob::from(text.as_bytes()))
    }

    /// A bulk string, or none.
    pub(crate) fn optional(value: Option<Blob>) -> Reply {
        value.map_or(Reply::Null, Reply::Bulk)
    }

    /// An array of bulk strings.
    pub(crate) fn bulks(values: Vec<Blob>) -> Reply {
        Reply::Array(values.into_iter().map(Reply::Bulk).collect())
    }

    /// Appends the bytes that go over the wire.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Reply::Status(text) => {
                out.push(b'+');
                out.extend_from_slice(text.as_bytes());
                out.extend_from_slice(b"\r\n");
            }
            Reply::Error(text) => {
                out.push(b'-');
                out.extend(text.bytes().map(|byte| match byte {
                    b'\r' | b'\n' => b' ',
                    other => other,
                }));
                out.extend_from_slice(b"\r\n");
            }
            Reply::Integer(number) => number_line(b':', *number, out),
            Reply::Bulk(bytes) => {
                length_line(b'$', bytes.len(), out);
                out.extend_from_slice(bytes);
                out.extend_from_slice(b"\r\n");
            }
            Reply::Null => out.extend_from_slice(b"$-1\r\n"),
            Reply::NullArray => out.extend_from_slice(b"*-1\r\n"),
            Reply::Array(replies) => {
                length_line(b'*', replies.len(), out);
                for reply in replies {
                    reply.encode(out);
                }
            }
        }
    }
}

fn length_line(kind: u8, length: usize, out: &mut Vec<u8>) {
    number_line(kind, i64::try_from(length).unwrap_or(i64::MAX), out);
}

/// Digits by hand: this runs for every element of every reply, and the formatter costs more than the rest.
fn number_line(kind: u8, number: i64, out: &mut Vec<u8>) {
    out.push(kind);
    if number < 0 {
        out.push(b'-');
    }
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
    out.extend_from_slice(b"\r\n");
}

/// What a client needs to know of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    /// Bytes of the whole reply.
    pub(crate) bytes: usize,
    /// Whether it is an error.
    pub(crate) is_error: bool,
}

/// The first reply in `bytes`; `None`: it has not arrived completely.
pub(crate) fn parse_reply(bytes: &[u8]) -> Result<Option<Received>, ProtocolError> {
    let is_error = bytes.first() == Some(&b'-');
    Ok(measure(bytes, MAX_DEPTH)?.map(|bytes| Received { bytes, is_error }))
}

fn measure(bytes: &[u8], depth: usize) -> Result<Option<usize>, ProtocolError> {
    let Some(&kind) = bytes.first() else {
        return Ok(None);
    };
    if !b"+-:$*".contains(&kind) {
        return Err(ProtocolError::UnknownType(kind));
    }
    let Some((text, mut used)) = line(bytes, MAX_LINE)? else {
        return Ok(None);
    };
    if kind == b'+' || kind == b'-' {
        return Ok(Some(used));
    }
    let number = parse_integer(&text[1..]).ok_or(ProtocolError::Number)?;
    if kind == b':' || number == -1 {
        return Ok(Some(used));
    }
    let length = usize::try_from(number).map_err(|_| ProtocolError::Number)?;
    if length > MAX_LENGTH {
        return Err(ProtocolError::Number);
    }
    if kind == b'$' {
        let whole = used + length + 2;
        return Ok((bytes.len() >= whole).then_some(whole));
    }
    let depth = depth.checked_sub(1).ok_or(ProtocolError::TooDeep)?;
    for _ in 0..length {
        let Some(element) = measure(&bytes[used..], depth)? else {
            return Ok(None);
        };
        used += element;
    }
    Ok(Some(used))
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
