//! Why a recording cannot be written or read, with what to do about it.

use std::error::Error;
use std::fmt;
use std::io;

use turbowish_wire::convert::Malformed;
use turbowish_wire::framing::Unreadable;

use crate::{FORMAT_VERSION, LARGEST_BATCH, LARGEST_BODY, LONGEST_MARK};

/// Why a recording cannot be written or read.
#[derive(Debug)]
pub enum RecordingError {
    /// The system refused to read or write.
    Io(io::Error),
    /// It does not begin as a recording does.
    NoRecording,
    /// It does not begin as a file of rings does.
    NoRings,
    /// It was written by a newer version, in a format that this crate would misread.
    Newer {
        /// The version of its format.
        version: u16,
    },
    /// There is no chunk of that number.
    NoChunk {
        /// The number, from 0.
        nth: usize,
    },
    /// A chunk is intact, but its body is not what it should be.
    Body {
        /// Where the chunk begins, in bytes from the beginning.
        offset: u64,
        /// What is wrong with the body.
        fault: BodyFault,
    },
    /// A state or a mark is too large to be recorded.
    TooLarge,
    /// Writing has failed before: what was written until then can be read.
    Ended,
}

/// What is wrong with the body of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyFault {
    /// Its checksum is wrong: the file has changed since it was opened.
    Changed,
    /// It cannot be decompressed.
    Deflate,
    /// It is longer than that, perhaps only when it is decompressed.
    TooLong {
        /// The number of bytes that it may have.
        limit: usize,
    },
    /// It is no message, or one that is too large.
    Message(Unreadable),
    /// It is a message without a meaning: written by a newer version.
    Meaning(Malformed),
    /// It is not text in UTF-8.
    Text,
    /// It is not a list of polls.
    Polls,
    /// It is not a list of events.
    Events,
    /// It is not a list of events of calls.
    Calls,
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(cause) => cause.fmt(f),
            Self::NoRecording => {
                f.write_str("it is not a recording; turbowish record -o FILE.tw writes one")
            }
            Self::NoRings => f.write_str(
                "it is damaged, or another version of turbowish wrote it: take the one that the program has",
            ),
            Self::Newer { version } => write!(
                f,
                "a newer turbowish wrote it, in format {version}; this one reads up to {FORMAT_VERSION}: update it (cargo install turbowish-cli)"
            ),
            Self::NoChunk { nth } => write!(f, "it has no state {}", nth + 1),
            Self::Body { offset, fault } => write!(f, "the chunk at byte {offset}: {fault}"),
            Self::TooLarge => write!(
                f,
                "a state is larger than {} MiB, a chunk of polls or events than {} MiB, or a mark than {} KiB",
                LARGEST_BODY >> 20,
                LARGEST_BATCH >> 20,
                LONGEST_MARK >> 10
            ),
            Self::Ended => f.write_str("writing has failed before; what was written can be read"),
        }
    }
}

impl fmt::Display for BodyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed => f.write_str("the file has changed since it was opened; open it again"),
            Self::Deflate => f.write_str("it cannot be decompressed"),
            Self::TooLong { limit } => write!(f, "it is longer than {} KiB", limit >> 10),
            Self::Message(fault) => write!(f, "it is not a state: {fault}"),
            Self::Meaning(fault) => {
                write!(
                    f,
                    "it is a state of another version ({fault}): update turbowish-cli"
                )
            }
            Self::Text => f.write_str("it is not text"),
            Self::Polls => f.write_str("it is not a list of polls"),
            Self::Events => f.write_str("it is not a list of events"),
            Self::Calls => f.write_str("it is not a list of events of calls"),
        }
    }
}

impl Error for RecordingError {}

impl From<io::Error> for RecordingError {
    fn from(cause: io::Error) -> Self {
        Self::Io(cause)
    }
}
