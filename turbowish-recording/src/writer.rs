//! Writing: a file header, then whole chunks, each with one call of the output.

use std::io::Write;

use miniz_oxide::deflate::compress_to_vec;
use turbowish_model::snapshot::Snapshot;
use turbowish_wire::framing::{self, HEAD_BYTES};

use crate::chunk::whole;
use crate::{ChunkKind, FILE_HEADER, LARGEST_BATCH, LONGEST_MARK, RecordingError};

/// Level of the compression. A state of 188 kB becomes 54 kB in 1.0 ms; with the default level of
/// the crate, 52 kB in 2.7 ms.
const LEVEL: u8 = 2;

/// How bodies are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// As they are.
    None,
    /// Compressed with deflate, unless that makes one larger.
    Deflate,
}

/// Writes a recording. After an error it writes nothing more, and what was written before can be
/// read.
#[derive(Debug)]
pub struct Writer<W> {
    output: W,
    compression: Compression,
    written: u64,
    ended: bool,
}

impl<W: Write> Writer<W> {
    /// Begins a recording.
    ///
    /// # Errors
    /// The output takes no bytes.
    pub fn begin(mut output: W, compression: Compression) -> Result<Self, RecordingError> {
        output.write_all(&FILE_HEADER)?;
        Ok(Self {
            output,
            compression,
            written: FILE_HEADER.len() as u64,
            ended: false,
        })
    }

    /// Writes a state. `lost` is the number of states that were due since the one before and were
    /// not recorded.
    ///
    /// # Errors
    /// The output takes no bytes, or the state is too large. After a failed output, every further
    /// call is [`RecordingError::Ended`].
    pub fn state(&mut self, state: &Snapshot, lost: u32) -> Result<(), RecordingError> {
        let frame = framing::frame(state).ok_or(RecordingError::TooLarge)?;
        self.chunk(
            ChunkKind::State,
            state.at_unix_ns,
            lost,
            &frame[HEAD_BYTES..],
        )
    }

    /// Writes why an instant was recorded, in at most [`LONGEST_MARK`] bytes.
    ///
    /// # Errors
    /// As [`Self::state`].
    pub fn mark(&mut self, at_unix_ns: u64, text: &str) -> Result<(), RecordingError> {
        if text.len() > LONGEST_MARK {
            return Err(RecordingError::TooLarge);
        }
        self.chunk(ChunkKind::Mark, at_unix_ns, 0, text.as_bytes())
    }

    /// Writes a chunk as it was read or received: names, polls, events or calls.
    ///
    /// # Errors
    /// As [`Self::state`].
    pub fn body(
        &mut self,
        kind: ChunkKind,
        at_unix_ns: u64,
        body: &[u8],
    ) -> Result<(), RecordingError> {
        let is_batch = matches!(
            kind,
            ChunkKind::Polls | ChunkKind::Events | ChunkKind::Calls
        );
        if is_batch && body.len() > LARGEST_BATCH {
            return Err(RecordingError::TooLarge);
        }
        self.chunk(kind, at_unix_ns, 0, body)
    }

    fn chunk(
        &mut self,
        kind: ChunkKind,
        at_unix_ns: u64,
        lost: u32,
        body: &[u8],
    ) -> Result<(), RecordingError> {
        if self.ended {
            return Err(RecordingError::Ended);
        }
        let deflated = match self.compression {
            Compression::None => None,
            Compression::Deflate => Some(compress_to_vec(body, LEVEL)),
        };
        let deflated = deflated.filter(|small| small.len() < body.len());
        let stored = deflated.as_deref().unwrap_or(body);
        let chunk = whole(kind, deflated.is_some(), at_unix_ns, lost, stored);
        let chunk = chunk.ok_or(RecordingError::TooLarge)?;
        if let Err(cause) = self.output.write_all(&chunk) {
            self.ended = true;
            return Err(cause.into());
        }
        self.written += chunk.len() as u64;
        Ok(())
    }

    /// Bytes of the recording so far.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Ends the recording, and returns the output.
    ///
    /// # Errors
    /// The output holds bytes back, and cannot write them now.
    pub fn end(mut self) -> Result<W, RecordingError> {
        self.output.flush()?;
        Ok(self.output)
    }
}
