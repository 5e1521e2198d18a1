//! Inline commands: words on a line, for people with `nc` and for `redis-benchmark -t ping`.

use crate::db::Blob;
use crate::resp::ProtocolError;

/// Splits a line into its words. Quotes keep blanks together; in double quotes a backslash escapes.
pub(super) fn words(line: &[u8]) -> Result<Vec<Blob>, ProtocolError> {
    let mut words = Vec::new();
    let mut rest = line.trim_ascii();
    while !rest.is_empty() {
        let (word, after) = match rest {
            [b'"', quoted @ ..] => double_quoted(quoted)?,
            [b'\'', quoted @ ..] => single_quoted(quoted)?,
            _ => plain(rest),
        };
        if after
            .first()
            .is_some_and(|byte| !byte.is_ascii_whitespace())
        {
            return Err(ProtocolError::Quotes);
        }
        words.push(Blob::from(word));
        rest = after.trim_ascii_start();
    }
    Ok(words)
}

fn plain(text: &[u8]) -> (Vec<u8>, &[u8]) {
    let end = text.iter().position(u8::is_ascii_whitespace);
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    (word.to_vec(), rest)
}

fn single_quoted(text: &[u8]) -> Result<(Vec<u8>, &[u8]), ProtocolError> {
    let mut word = Vec::new();
    let mut rest = text;
    loop {
        rest = match rest {
            [b'\\', b'\'', after @ ..] => {
                word.push(b'\'');
                after
            }
            [b'\'', after @ ..] => return Ok((word, after)),
            [byte, after @ ..] => {
                word.push(*byte);
                after
            }
            [] => return Err(ProtocolError::Quotes),
        };
    }
}

fn double_quoted(text: &[u8]) -> Result<(Vec<u8>, &[u8]), ProtocolError> {
    let mut word = Vec::new();
    let mut rest = text;
    loop {
        rest = match rest {
            [b'\\', b'x', high, low, after @ ..]
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                word.push(hex(*high) << 4 | hex(*low));
                after
            }
            [b'\\', byte, after @ ..] => {
                word.push(unescape(*byte));
                after
            }
            [b'"', after @ ..] => return Ok((word, after)),
            [byte, after @ ..] => {
                word.push(*byte);
                after
            }
            [] => return Err(ProtocolError::Quotes),
        };
    }
}

fn unescape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'a' => 0x07,
        b'b' => 0x08,
        other => other,
    }
}

fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit.wrapping_sub(b'A') + 10,
    }
}
