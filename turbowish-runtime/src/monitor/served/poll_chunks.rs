//! Chunks of the polls of a thread. None was lost between the polls of a chunk: what comes after a
//! loss is a chunk of its own.

use turbowish_recording::{ChunkKind, PollEncoder, PollEvent};

use crate::server::{ThreadChunk, ThreadPart};

/// How far the polls of a thread are in chunks.
#[derive(Debug)]
pub(super) struct PollPosition {
    thread: u32,
    /// Number of the poll after the last one in a chunk.
    pub(super) next: u64,
    /// End of that last one, in nanoseconds since 1970: the next one begins no sooner.
    until: u64,
}

/// Chunks in the making.
pub(super) struct PollChunks<'a> {
    position: &'a mut PollPosition,
    open: Option<OpenChunk>,
    into: &'a mut Vec<ThreadChunk>,
    /// Memory for the bodies, used again to save an allocation a chunk.
    buffer: &'a mut Vec<u8>,
}

struct OpenChunk {
    encoder: PollEncoder,
    at_unix_ns: u64,
    /// Polls that were lost before it.
    lost: u64,
}

impl PollPosition {
    /// None of the polls of a thread is in a chunk.
    pub(super) const fn start(thread: u32) -> Self {
        Self {
            thread,
            next: 0,
            until: 0,
        }
    }
}

impl<'a> PollChunks<'a> {
    /// Goes on from a position; the chunks are added to `into`.
    pub(super) const fn new(
        position: &'a mut PollPosition,
        into: &'a mut Vec<ThreadChunk>,
        buffer: &'a mut Vec<u8>,
    ) -> Self {
        Self {
            position,
            open: None,
            into,
            buffer,
        }
    }

    /// Adds the poll with this number, which is higher than that before. Returns how many were lost
    /// in between.
    pub(super) fn add(&mut self, number: u64, poll: &PollEvent) -> u64 {
        let lost = number.saturating_sub(self.position.next);
        if lost > 0 {
            self.close();
        }
        let (thread, until) = (self.position.thread, self.position.until);
        let open = self.open.get_or_insert_with(|| {
            let at_unix_ns = poll.start_unix_ns.max(until);
            let buffer = std::mem::take(self.buffer);
            OpenChunk {
                encoder: PollEncoder::begin_in(buffer, at_unix_ns, thread, number, lost),
                at_unix_ns,
                lost,
            }
        });
        open.encoder.push(poll);
        self.position.next = number + 1;
        self.position.until = until.max(poll.end_unix_ns());
        lost
    }

    /// Ends the chunk in the making.
    pub(super) fn close(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        let count = open.encoder.count() as u64 + open.lost;
        let has = ThreadPart {
            thread: self.position.thread,
            next: self.position.next,
            count,
        };
        let (kind, body) = (ChunkKind::Polls, open.encoder.end());
        let chunk = ThreadChunk::new(kind, open.at_unix_ns, &body, Some(has));
        self.into.extend(chunk);
        *self.buffer = body;
    }
}

#[cfg(test)]
mod tests {
    use turbowish_recording::{PollBatch, PollEvent};

    use super::{PollChunks, PollPosition};

    fn poll(start_unix_ns: u64) -> PollEvent {
        PollEvent {
            start_unix_ns,
            hold_ns: 10,
            ..PollEvent::default()
        }
    }

    /// The first poll of each chunk has its number, and only what is lost right before it.
    #[test]
    fn what_comes_after_a_loss_is_a_chunk_of_its_own() {
        let (mut position, mut chunks) = (PollPosition::start(7), Vec::new());
        let mut buffer = Vec::new();
        for numbers in [&[0, 1, 4, 5, 9][..], &[10], &[13]] {
            let mut making = PollChunks::new(&mut position, &mut chunks, &mut buffer);
            for &number in numbers {
                let before = making.position.next;
                let lost = making.add(number, &poll(100 * number));
                assert_eq!(lost, number - before);
            }
            making.close();
            making.close();
        }
        let read = chunks.iter().map(|chunk| {
            let batch = PollBatch::read(chunk.at_unix_ns, chunk.body()).expect("polls");
            let part = chunk.has.expect("polls");
            assert_eq!((part.thread, batch.thread), (7, 7));
            assert_eq!(chunk.at_unix_ns, 100 * batch.first);
            assert_eq!(part.count, batch.polls.len() as u64 + batch.lost);
            assert_eq!(part.next, batch.next());
            (batch.first, batch.lost, batch.polls.len())
        });
        let expected = [(0, 0, 2), (4, 2, 2), (9, 3, 1), (10, 0, 1), (13, 2, 1)];
        assert_eq!(read.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_chunk_begins_no_sooner_than_the_last_poll_ended() {
        let (mut position, mut chunks) = (PollPosition::start(0), Vec::new());
        let mut buffer = Vec::new();
        for (number, start_unix_ns) in [(0, 100), (1, 105)] {
            let mut making = PollChunks::new(&mut position, &mut chunks, &mut buffer);
            making.add(number, &poll(start_unix_ns));
            making.close();
        }
        assert_eq!(chunks[1].at_unix_ns, 110);
    }

    /// Of one thread after another: the second body is in the memory of the first, and has nothing
    /// of it.
    #[test]
    fn memory_of_bodies_is_used_again() {
        let (mut chunks, mut buffer) = (Vec::new(), Vec::new());
        let mut memory = Vec::new();
        for (thread, polls) in [(7, 30), (8, 3)] {
            let mut position = PollPosition::start(thread);
            let mut making = PollChunks::new(&mut position, &mut chunks, &mut buffer);
            (0..polls).for_each(|number| _ = making.add(number, &poll(100 * number)));
            making.close();
            memory.push((buffer.as_ptr(), buffer.capacity()));
        }
        assert!(memory[0].1 > 0, "the first body left its memory");
        assert_eq!(memory[0], memory[1]);
        let batches = chunks.iter().map(|chunk| {
            let batch = PollBatch::read(chunk.at_unix_ns, chunk.body()).expect("polls");
            (batch.thread, batch.polls.len())
        });
        assert_eq!(batches.collect::<Vec<_>>(), [(7, 30), (8, 3)]);
    }
}
