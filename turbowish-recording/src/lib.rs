//! Recordings: states of a process over time, in a file or in the memory of the process itself.
//!
//! A recording is a file header and then *chunks*. Each chunk stands alone: it has its length, its
//! time and checksums, so a reader skips what is damaged or unknown and goes on with the next one.
//! The format is described in `docs/recording.md`.
//!
//! ```
//! use std::io::Cursor;
//! use turbowish_model::snapshot::Snapshot;
//! use turbowish_recording::{Compression, Reader, Writer};
//!
//! let mut writer = Writer::begin(Vec::new(), Compression::Deflate)?;
//! let state = Snapshot { at_unix_ns: 7, ..Snapshot::default() };
//! writer.state(&state, 0)?;
//! let mut reader = Reader::open(Cursor::new(writer.end()?))?;
//! assert_eq!(reader.states()[0].at_unix_ns, 7);
//! assert_eq!(reader.snapshot(0)?, state);
//! # Ok::<(), turbowish_recording::RecordingError>(())
//! ```

mod calls;
mod chunk;
#[cfg(feature = "read")]
mod error;
mod events;
mod instants;
#[cfg(feature = "read")]
mod last_calls;
mod names;
mod polls;
#[cfg(feature = "read")]
mod reader;
mod ring_file;
#[cfg(feature = "read")]
mod skim;
mod varint;
#[cfg(feature = "read")]
mod writer;

pub use calls::{CallBatch, CallEncoder, CallPlace};
pub use chunk::{
    ChunkHeader, ChunkKind, FILE_HEADER, FILE_MAGIC, FORMAT_VERSION, HEADER_BYTES, LARGEST_BATCH,
    LARGEST_BODY, LONGEST_MARK, MARKER, encode,
};
#[cfg(feature = "read")]
pub use error::{BodyFault, RecordingError};
pub use events::{EventBatch, EventEncoder, ResourceSpan, ThreadEvent, ThreadEventKind};
pub use instants::ClockReading;
#[cfg(feature = "read")]
pub use last_calls::MOST_CALL_EVENTS;
pub use names::{AwaitName, CallName, EventName, NameEncoder, Names, ProcName};
pub use polls::{PollBatch, PollEncoder, PollEvent, WakeupEvent, WokenBy};
#[cfg(feature = "read")]
pub use reader::Reader;
#[cfg(feature = "read")]
pub use ring_file::left::{LeftPolls, LeftRings};
pub use ring_file::{MOST_RINGS, RING_HEADER_BYTES, RING_POLLS, ring_header, ring_span};
#[cfg(feature = "read")]
pub use skim::{Damage, EventsEntry, LARGEST_INDEX, MarkEntry, PollsEntry, StateEntry};
#[cfg(feature = "read")]
pub use writer::{Compression, Writer};
