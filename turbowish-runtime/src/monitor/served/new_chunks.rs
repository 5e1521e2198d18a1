//! Chunks of what the threads did, and memory that is used again for the next bodies.

use turbowish_recording::ChunkKind;

use crate::server::{ThreadChunk, ThreadPart};

/// The chunks that nobody has taken yet.
#[derive(Debug, Default)]
pub(super) struct NewChunks {
    chunks: Vec<ThreadChunk>,
    /// Memory for a body in the making.
    body: Vec<u8>,
}

impl NewChunks {
    /// Takes memory for a body, with any content.
    pub(super) fn body(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.body)
    }

    /// Lets the next body have this memory.
    pub(super) fn give_back(&mut self, body: Vec<u8>) {
        self.body = body;
    }

    /// Adds a chunk, unless the body is too long for one.
    pub(super) fn add(
        &mut self,
        kind: ChunkKind,
        at_unix_ns: u64,
        body: &[u8],
        has: Option<ThreadPart>,
    ) {
        self.chunks
            .extend(ThreadChunk::new(kind, at_unix_ns, body, has));
    }

    /// Takes the chunks.
    pub(super) fn take(&mut self) -> Vec<ThreadChunk> {
        std::mem::take(&mut self.chunks)
    }
}
