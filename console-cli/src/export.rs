//! Exports: a recording in the formats of other programs. Each format is a function from a timeline
//! to bytes; what was not recorded is in none of them.

mod calls;
pub(crate) mod chrome;
pub(crate) mod ctf;
mod events;
pub(crate) mod folded;
mod labels;
mod ordered;
pub(crate) mod perfetto;
pub(crate) mod pprof;
mod recent;
mod stacks;
mod timeline;
mod waits;

use std::fmt;
use std::io;

use turbowish_model::snapshot::units;
use turbowish_recording::RecordingError;

pub(crate) use self::calls::CallTotals;
pub(crate) use self::labels::Labels;
pub(crate) use self::timeline::{ExportRange, Step, Survey, Timeline, Totals};
use crate::recording::counted;

/// That a recording has neither polls nor events.
pub(crate) fn has_no_steps(name: &str) -> String {
    format!(
        "{name} has no polls: a process keeps them with the feature `server`, and turbowish snapshot -o FILE.tw writes them (turbowish record does not)"
    )
}

/// `x.tw: 2 chunks of polls and events cannot be read`
pub(crate) fn unread(name: &str, chunks: u64) -> String {
    let chunks = counted(chunks, "chunk");
    format!("{name}: {chunks} of polls and events cannot be read")
}

/// That polls are not shown which overlap others.
pub(crate) fn overlapping(polls: u64) -> String {
    let count = units::count(polls);
    format!(
        "{count} polls are left out, which overlap others of their thread: recordings were joined, or the clock was set back"
    )
}

/// Why an export has failed.
#[derive(Debug)]
pub(crate) enum ExportError {
    /// The recording cannot be read.
    Read(RecordingError),
    /// The output takes no bytes.
    Write(io::Error),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(cause) => cause.fmt(f),
            Self::Write(cause) => cause.fmt(f),
        }
    }
}

impl From<RecordingError> for ExportError {
    fn from(cause: RecordingError) -> Self {
        Self::Read(cause)
    }
}

impl From<io::Error> for ExportError {
    fn from(cause: io::Error) -> Self {
        Self::Write(cause)
    }
}

#[cfg(test)]
pub(crate) mod tests;
