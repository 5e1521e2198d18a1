//! Parser of requests from a byte stream in arbitrary pieces; no received argument is parsed twice.

use crate::db::{Blob, parse_integer};
use crate::resp::{ProtocolError, inline, line};

/// A command and its arguments. Never empty.
pub(crate) type Request = Vec<Blob>;

/// The line before an argument: a type, up to 20 characters of a number, a line end, and room to spare.
const LENGTH_LINE: usize = 64;

/// Capacity that an empty buffer may keep. What one large request needed is given back.
const KEEP: usize = 64 * 1024;

/// How much a client may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Bytes of all arguments of one request together.
    pub(crate) request_bytes: usize,
    /// Arguments of one request, with the command.
    pub(crate) arguments: usize,
    /// Bytes of an inline command.
    pub(crate) inline_bytes: usize,
}

/// The requests of one connection: bytes go in at [`Requests::buffer`], requests come out of [`Requests::next`].
#[derive(Debug)]
pub(crate) struct Requests {
    limits: Limits,
    buffer: Vec<u8>,
    /// Bytes at the front of `buffer` that have been understood already.
    start: usize,
    partial: Option<Partial>,
    /// Where one frame ends and the next begins is not known any more.
    broken: Option<ProtocolError>,
}

/// A request of which the head has arrived.
#[derive(Debug)]
struct Partial {
    arguments: Request,
    /// Arguments that are still to come. At least 1.
    missing: usize,
    /// Length of the argument that comes next, once its length line has arrived.
    length: Option<usize>,
    /// Bytes that the request may still hold.
    allowance: usize,
}

impl Requests {
    /// Nothing has arrived yet.
    pub(crate) fn new(limits: Limits) -> Requests {
        Requests {
            limits,
            buffer: Vec::new(),
            start: 0,
            partial: None,
            broken: None,
        }
    }

    /// Where the next bytes belong: append, never touch what is there. Has room for at least `room` bytes.
    pub(crate) fn buffer(&mut self, room: usize) -> &mut Vec<u8> {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            if self.buffer.capacity() > KEEP {
                self.buffer = Vec::new();
            }
        } else {
            self.buffer.drain(..self.start);
        }
        self.start = 0;
        self.buffer.reserve(room);
        &mut self.buffer
    }

    /// Whether the stream could end here: no request has begun.
    pub(crate) fn is_between(&self) -> bool {
        self.partial.is_none() && self.start == self.buffer.len()
    }

    /// The next request that has arrived completely; `None`: more bytes are needed. An error is final.
    pub(crate) fn next(&mut self) -> Result<Option<Request>, ProtocolError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let next = self.read();
        self.broken = next.as_ref().err().cloned();
        next
    }

    fn read(&mut self) -> Result<Option<Request>, ProtocolError> {
        loop {
            if self.partial.is_some() {
                return self.arguments();
            }
            match self.buffer.get(self.start) {
                None => return Ok(None),
                Some(b'*') => {
                    if !self.head()? {
                        return Ok(None);
                    }
                }
                Some(_) => match self.inline()? {
                    // An empty line: somebody pressed return.
                    Some(request) if request.is_empty() => {}
                    other => return Ok(other),
                },
            }
        }
    }

    fn inline(&mut self) -> Result<Option<Request>, ProtocolError> {
        let Some((text, used)) = line(&self.buffer[self.start..], self.limits.inline_bytes)? else {
            return Ok(None);
        };
        let words = inline::words(text)?;
        self.start += used;
        Ok(Some(words))
    }

    /// Reads `*count`; false: it is not all there. An empty array is no request and passed over.
    fn head(&mut self) -> Result<bool, ProtocolError> {
        let Some(count) = self.number(ProtocolError::ArgumentCount)? else {
            return Ok(false);
        };
        let count = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
        if count > self.limits.arguments {
            return Err(ProtocolError::ArgumentCount);
        }
        if count > 0 {
            self.partial = Some(Partial {
                // The count is only a promise: room for more grows as arguments arrive.
                arguments: Vec::with_capacity(count.min(32)),
                missing: count,
                length: None,
                allowance: self.limits.request_bytes,
            });
        }
        Ok(true)
    }

    fn arguments(&mut self) -> Result<Option<Request>, ProtocolError> {
        while let Some(partial) = &mut self.partial {
            let Some(length) = partial.length else {
                if !self.length()? {
                    return Ok(None);
                }
                continue;
            };
            let rest = &self.buffer[self.start..];
            if rest.len() < length + 2 {
                return Ok(None);
            }
            if &rest[length..length + 2] != b"\r\n" {
                return Err(ProtocolError::Unterminated);
            }
            partial.arguments.push(Blob::from(&rest[..length]));
            partial.length = None;
            partial.missing -= 1;
            self.start += length + 2;
            if partial.missing == 0 {
                let complete = self.partial.take();
                return Ok(complete.map(|partial| partial.arguments));
            }
        }
        Ok(None)
    }

    /// Reads `$length` of the next argument; false: it is not all there.
    fn length(&mut self) -> Result<bool, ProtocolError> {
        match self.buffer.get(self.start) {
            None => return Ok(false),
            Some(b'$') => {}
            Some(&byte) => return Err(ProtocolError::ExpectedBulk(byte)),
        }
        let Some(length) = self.number(ProtocolError::BulkLength)? else {
            return Ok(false);
        };
        let length = usize::try_from(length).map_err(|_| ProtocolError::BulkLength)?;
        let limit = self.limits.request_bytes;
        if let Some(partial) = &mut self.partial {
            let left = partial.allowance.checked_sub(length);
            partial.allowance = left.ok_or(ProtocolError::TooLarge(limit))?;
            partial.length = Some(length);
        }
        Ok(true)
    }

    /// The number on a line behind its type.
    fn number(&mut self, wrong: ProtocolError) -> Result<Option<i64>, ProtocolError> {
        let Some((text, used)) = line(&self.buffer[self.start..], LENGTH_LINE)? else {
            return Ok(None);
        };
        self.start += used;
        parse_integer(&text[1..]).map(Some).ok_or(wrong)
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
