//! Recordings: states of a process over time, in a file or in the memory of the process itself.
//!
//! A recording is a file header and then *chunks*. Each chunk stands alone: it has its length, its
//! time and checksums, so a reader skips what is damaged or unknown and goes on with the next one.
//! The format is described in `docs/recording.md`.

mod chunk;

pub use chunk::{
    ChunkHeader, ChunkKind, FILE_HEADER, FILE_MAGIC, FORMAT_VERSION, HEADER_BYTES, LARGEST_BODY,
    MARKER, encode,
};
