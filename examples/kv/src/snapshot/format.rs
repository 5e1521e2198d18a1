//! The bytes of a snapshot: magic, version, entries, an end mark, and a checksum over all of it.
//!
//! An entry is its type (1 text, 2 list), its deadline in Unix milliseconds (0: none), its key, and its text or the
//! number of its elements and each of them. Byte strings stand behind their length. Integers are u64, little endian.

use std::collections::VecDeque;
use std::fmt;

use crate::db::{Blob, Entry, Value};

const MAGIC: &[u8; 7] = b"KVSNAP\n";
const VERSION: u8 = 1;

const END: u8 = 0;
const TEXT: u8 = 1;
const LIST: u8 = 2;

/// Why a file is no snapshot that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// It begins with something else.
    Magic,
    /// It is from another version of this program.
    Version(u8),
    /// It ends too early.
    Truncated,
    /// It was changed after it was written.
    Checksum,
    /// It holds an entry of an unknown type.
    Type(u8),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Magic => f.write_str("not a snapshot of this program"),
            Broken::Version(version) => write!(f, "format {version}, only {VERSION} is known"),
            Broken::Truncated => f.write_str("ends too early"),
            Broken::Checksum => f.write_str("checksum does not match"),
            Broken::Type(byte) => write!(f, "unknown type {byte}"),
        }
    }
}

impl std::error::Error for Broken {}

/// FNV-1a, 64 bits: finds damage, not intent.
#[derive(Clone, Copy)]
struct Checksum(u64);

impl Checksum {
    const fn new() -> Checksum {
        Checksum(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        self.0 = bytes.iter().fold(self.0, step);
    }
}

/// Makes the bytes of a snapshot, a page at a time.
pub(crate) struct Encoder {
    page: Vec<u8>,
    sum: Checksum,
}

impl Encoder {
    /// The beginning of a snapshot.
    pub(crate) fn new() -> Encoder {
        let mut encoder = Encoder {
            page: Vec::new(),
            sum: Checksum::new(),
        };
        encoder.raw(MAGIC);
        encoder.raw(&[VERSION]);
        encoder
    }

    /// Adds an entry to the page.
    pub(crate) fn entry(&mut self, key: &[u8], entry: &Entry) {
        let kind = match entry.value {
            Value::Text(_) => TEXT,
            Value::List(_) => LIST,
        };
        self.raw(&[kind]);
        self.number(entry.deadline.unwrap_or(0));
        self.string(key);
        match &entry.value {
            Value::Text(text) => self.string(text),
            Value::List(list) => {
                self.number(list.len() as u64);
                for element in list {
                    self.string(element);
                }
            }
        }
    }

    /// The bytes since the page was last cleared.
    pub(crate) fn page(&mut self) -> &mut Vec<u8> {
        &mut self.page
    }

    /// The last page.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.raw(&[END]);
        let sum = self.sum.0;
        self.number(sum);
        self.page
    }

    fn string(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.raw(bytes);
    }

    fn number(&mut self, number: u64) {
        self.raw(&number.to_le_bytes());
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.sum.add(bytes);
        self.page.extend_from_slice(bytes);
    }
}

/// The entries of a snapshot of which the checksum has been found right.
pub(crate) struct Decoder<'a> {
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    /// Checks everything but the entries themselves.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Decoder<'a>, Broken> {
        let Some(behind) = bytes.strip_prefix(MAGIC) else {
            return Err(match MAGIC.starts_with(bytes) {
                true => Broken::Truncated,
                false => Broken::Magic,
            });
        };
        let contents = match behind {
            [] => return Err(Broken::Truncated),
            [VERSION, contents @ ..] => contents,
            [other, ..] => return Err(Broken::Version(*other)),
        };
        let (rest, sum) = contents.split_last_chunk().ok_or(Broken::Truncated)?;
        let mut expected = Checksum::new();
        expected.add(&bytes[..bytes.len() - sum.len()]);
        if u64::from_le_bytes(*sum) != expected.0 {
            return Err(Broken::Checksum);
        }
        Ok(Decoder { rest })
    }

    fn entry(&mut self, kind: u8) -> Result<(Blob, Entry), Broken> {
        let deadline = Some(self.number()?).filter(|&deadline| deadline != 0);
        let key = self.string()?;
        let value = match kind {
            TEXT => Value::Text(self.string()?),
            LIST => {
                let mut list = VecDeque::new();
                for _ in 0..self.number()? {
                    list.push_back(self.string()?);
                }
                Value::List(list)
            }
            other => return Err(Broken::Type(other)),
        };
        Ok((key, Entry { value, deadline }))
    }

    fn string(&mut self) -> Result<Blob, Broken> {
        let length = usize::try_from(self.number()?).map_err(|_| Broken::Truncated)?;
        let (string, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(Broken::Truncated)?;
        self.rest = rest;
        Ok(Blob::from(string))
    }

    fn number(&mut self) -> Result<u64, Broken> {
        let (number, rest) = self.rest.split_first_chunk().ok_or(Broken::Truncated)?;
        self.rest = rest;
        Ok(u64::from_le_bytes(*number))
    }
}

impl Iterator for Decoder<'_> {
    type Item = Result<(Blob, Entry), Broken>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.rest.split_first() {
            None => Some(Err(Broken::Truncated)),
            Some((&END, [])) => None,
            Some((&END, _)) => Some(Err(Broken::Type(END))),
            Some((&kind, rest)) => {
                self.rest = rest;
                Some(self.entry(kind))
            }
        }
    }
}

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;
