//! Memory for the chunks of threads.

use bytes::BytesMut;
use turbowish_recording::{ChunkKind, chunk_header};

use super::{ThreadChunk, ThreadPart};

/// Memory for chunks of threads, which lie in it one after another: a busy program has a hundred in
/// a second, and to ask the system for room for each would take longer than to fill it.
#[derive(Debug, Default)]
pub(crate) struct ChunkMemory(BytesMut);

impl ChunkMemory {
    /// Bytes that are asked for at once. They are given back when all chunks in them are gone.
    const PIECE: usize = 128 << 10;

    /// A chunk with a copy of this body. `None` if that is longer than a chunk may have; those of a
    /// thread's rings are much shorter.
    pub(crate) fn chunk(
        &mut self,
        kind: ChunkKind,
        at_unix_ns: u64,
        body: &[u8],
        has: Option<ThreadPart>,
    ) -> Option<ThreadChunk> {
        let header = chunk_header(kind, at_unix_ns, 0, body)?;
        let len = header.len() + body.len();
        if self.0.capacity() < len {
            self.0 = BytesMut::with_capacity(len.max(Self::PIECE));
        }
        self.0.extend_from_slice(&header);
        self.0.extend_from_slice(body);
        Some(ThreadChunk {
            kind,
            at_unix_ns,
            bytes: self.0.split().freeze(),
            has,
        })
    }
}

#[cfg(test)]
mod tests {
    use turbowish_recording::{ChunkKind, LARGEST_BODY, encode};

    use super::ChunkMemory;

    /// They lie one after another, and one that has no room begins a piece of its own.
    #[test]
    fn each_chunk_is_whole_in_memory_that_is_shared() {
        const PIECE: usize = ChunkMemory::PIECE;
        let mut memory = ChunkMemory::default();
        let mut before = None;
        let mut kept = Vec::new();
        for (at, (len, follows)) in [
            (1_000, false),
            (0, true),
            (PIECE / 2, true),
            (PIECE / 2, false),
            (2 * PIECE, false),
            (10, false),
            (10, true),
        ]
        .into_iter()
        .enumerate()
        {
            let body = vec![at as u8; len];
            let chunk = memory.chunk(ChunkKind::Polls, at as u64, &body, None);
            let chunk = chunk.expect("a short body");
            let begin = chunk.bytes.as_ptr().addr();
            assert_eq!(
                before.replace(begin + chunk.bytes.len()) == Some(begin),
                follows
            );
            kept.push((chunk, encode(ChunkKind::Polls, at as u64, 0, &body)));
        }
        for (chunk, encoded) in kept {
            assert_eq!(Some(&chunk.bytes[..]), encoded.as_deref());
        }
    }

    #[test]
    fn a_body_that_is_too_long_makes_no_chunk() {
        let body = vec![0; LARGEST_BODY + 1];
        let chunk = ChunkMemory::default().chunk(ChunkKind::Polls, 1, &body, None);
        assert_eq!(chunk, None);
    }
}
