//! Ring: the latest chunks, within a budget of bytes.

use std::collections::VecDeque;
use std::ops::Range;

use bytes::Bytes;
use turbowish_recording::{
    ChunkHeader, ChunkKind, EventEncoder, HEADER_BYTES, LARGEST_BODY, MOST_RINGS, PollEncoder,
    encode,
};

use super::super::ThreadPart;

/// Memory of a chunk beside its bytes, at most: its place here, and what its parts share.
pub(super) const OVERHEAD: usize = 128;

/// Bytes of a message around a chunk, at most.
const AROUND: usize = 64;

/// Chunks before the first one of a range that may have the end of a long poll: one of polls and
/// one of events of each thread.
const REACH: usize = 2 * MOST_RINGS as usize;

/// The latest chunks. The oldest ones give way.
#[derive(Default)]
pub(super) struct Ring {
    chunks: VecDeque<Kept>,
    /// Number of the first chunk: each has one more than that before.
    first: u64,
    /// Bytes of all chunks, and of what they take beside.
    bytes: usize,
    budget: usize,
    /// States that were due since the last one here and were not recorded.
    lost: u32,
}

/// A chunk that is kept.
#[derive(Clone)]
pub(super) struct Kept {
    /// Each has one more than that before.
    pub(super) number: u64,
    pub(super) is_state: bool,
    pub(super) at_unix_ns: u64,
    pub(super) chunk: Bytes,
    /// How much it has, if it has polls or events.
    pub(super) has: Option<(ChunkKind, ThreadPart)>,
}

impl Kept {
    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.chunk.len() + OVERHEAD
    }

    /// In the place of this chunk, one that says that what it has is lost. `None` if a reader sees
    /// that by itself.
    pub(super) fn loss(&self) -> Option<Self> {
        let at = self.at_unix_ns;
        let (
            kind,
            ThreadPart {
                thread,
                next,
                count,
            },
        ) = self.has?;
        let body = match kind {
            ChunkKind::Polls => PollEncoder::begin(at, thread, next, count).end(),
            ChunkKind::Events => EventEncoder::begin(at, thread, count).end(),
            _ => return None,
        };
        Some(Self {
            chunk: chunk(kind, at, 0, &body)?,
            ..self.clone()
        })
    }

    /// The same state, with so many before it that are not there.
    pub(super) fn after_lost(self, states: usize) -> Self {
        let Some((mut header, ..)) = ChunkHeader::split(&self.chunk) else {
            return self;
        };
        let states = u32::try_from(states).unwrap_or(u32::MAX);
        header.lost = header.lost.saturating_add(states);
        let chunk = [&header.bytes()[..], &self.chunk[HEADER_BYTES..]].concat();
        Self {
            chunk: chunk.into(),
            ..self
        }
    }
}

impl Ring {
    pub(super) fn new(budget: usize) -> Self {
        Self {
            budget,
            ..Self::default()
        }
    }

    /// Bytes of the largest body that has room, here and in a message.
    pub(super) fn largest_body(&self) -> usize {
        let room = self.budget.saturating_sub(OVERHEAD + HEADER_BYTES);
        room.min(LARGEST_BODY - HEADER_BYTES - AROUND)
    }

    /// Counts states that were due and not recorded.
    pub(super) const fn lose(&mut self, states: u32) {
        self.lost = self.lost.saturating_add(states);
    }

    /// The number of lost states for the next one.
    pub(super) const fn take_lost(&mut self) -> u32 {
        std::mem::replace(&mut self.lost, 0)
    }

    /// Adds a chunk that is no larger than [`Self::largest_body`] allows.
    pub(super) fn push(&mut self, kind: ChunkKind, at_unix_ns: u64, chunk: Bytes) {
        self.push_part(kind, at_unix_ns, chunk, None);
    }

    /// The same, of what a thread did.
    pub(super) fn push_part(
        &mut self,
        kind: ChunkKind,
        at_unix_ns: u64,
        chunk: Bytes,
        has: Option<ThreadPart>,
    ) {
        let bytes = chunk.len() + OVERHEAD;
        if !self.make_room(bytes) {
            return;
        }
        self.bytes += bytes;
        let number = self.first + self.chunks.len() as u64;
        self.chunks.push_back(Kept {
            number,
            is_state: kind == ChunkKind::State,
            at_unix_ns,
            chunk,
            has: has.map(|has| (kind, has)),
        });
    }

    /// Changes the budget.
    pub(super) fn set_budget(&mut self, budget: usize) {
        self.budget = budget;
        self.make_room(0);
    }

    /// Lets the oldest chunks give way to so many bytes. Returns whether there is room for them.
    fn make_room(&mut self, bytes: usize) -> bool {
        while self.bytes + bytes > self.budget {
            let Some(oldest) = self.chunks.pop_front() else {
                return false;
            };
            self.first += 1;
            self.bytes -= oldest.chunk.len() + OVERHEAD;
        }
        true
    }

    /// Numbers of the chunks from the state that shows the instant `from`, if it is still here, to
    /// the last one that is not after `to`. 0 is no bound.
    pub(super) fn between(&self, from: u64, to: u64) -> Range<u64> {
        let number = |at: usize| self.first + at as u64;
        let shows = |kept: &Kept| kept.is_state && kept.at_unix_ns <= from;
        let begin = self.chunks.iter().rposition(shows).unwrap_or(0);
        let is_in = |kept: &Kept| to == 0 || kept.at_unix_ns <= to;
        let last = self.chunks.iter().rposition(is_in);
        let end = last.map_or(begin, |last| last + 1);
        number(begin)..number(end)
    }

    /// Numbers of the chunks of polls and events that may reach into the time from `from` to `to`.
    /// 0 is no bound. A chunk has the time of its first poll and is added after its last one, so
    /// the order is that of the ends: a long poll may be in one of the chunks just before.
    pub(super) fn reaching(&self, from: u64, to: u64) -> Range<u64> {
        let number = |at: usize| self.first + at as u64;
        let begins = |kept: &Kept| kept.at_unix_ns >= from;
        let begin = self.chunks.iter().position(begins);
        let begin = begin.unwrap_or(self.chunks.len()).saturating_sub(REACH);
        let is_in = |kept: &Kept| to == 0 || kept.at_unix_ns <= to;
        let end = self.chunks.iter().rposition(is_in).map_or(0, |at| at + 1);
        number(begin.min(end))..number(end)
    }

    /// The number of the oldest chunk.
    pub(super) fn oldest(&self) -> Option<u64> {
        (!self.chunks.is_empty()).then_some(self.first)
    }

    /// The chunks of a range that are still here.
    pub(super) fn kept(&self, range: Range<u64>) -> Vec<Kept> {
        let at = |number: u64| number.saturating_sub(self.first) as usize;
        let chunks = self.chunks.range(at(range.start)..at(range.end));
        chunks.cloned().collect()
    }

    /// The first chunk of a range that is still here. The range goes on behind it.
    pub(super) fn next(&self, range: &mut Range<u64>) -> Option<Bytes> {
        range.start = range.start.max(self.first);
        if range.is_empty() {
            return None;
        }
        let at = usize::try_from(range.start - self.first).ok()?;
        range.start += 1;
        self.chunks.get(at).map(|kept| kept.chunk.clone())
    }
}

/// A chunk, in memory of its own.
pub(super) fn chunk(kind: ChunkKind, at_unix_ns: u64, lost: u32, body: &[u8]) -> Option<Bytes> {
    encode(kind, at_unix_ns, lost, body).map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use turbowish_recording::{ChunkKind, HEADER_BYTES};

    use super::{OVERHEAD, REACH, Ring, chunk};

    fn push(ring: &mut Ring, kind: ChunkKind, at: u64, length: usize) {
        let body = vec![u8::try_from(at % 251).unwrap(); length];
        ring.push(kind, at, chunk(kind, at, 0, &body).unwrap());
    }

    fn sum(ring: &Ring) -> usize {
        let chunks = ring.chunks.iter();
        chunks.map(|kept| kept.chunk.len() + OVERHEAD).sum()
    }

    #[test]
    fn the_budget_is_kept_whatever_comes() {
        const BUDGET: usize = 4 << 10;
        let mut ring = Ring::new(BUDGET);
        let largest = ring.largest_body();
        let mut random = 7_u64;
        for at in 1..=5_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let length = usize::try_from(random >> 33).unwrap() % (largest + 1);
            let length = if at % 3 == 0 { length } else { length / 64 };
            push(&mut ring, ChunkKind::State, at, length);
            assert_eq!(ring.bytes, sum(&ring));
            assert!(ring.bytes <= BUDGET);
            let last = ring.chunks.back().expect("the newest is there");
            assert_eq!(last.at_unix_ns, at);
        }
        assert_eq!(ring.first + ring.chunks.len() as u64, 5_000);
        push(&mut ring, ChunkKind::State, 5_001, largest);
        assert_eq!((ring.chunks.len(), ring.bytes), (1, BUDGET));
        // Beyond what is let in: the ring has no room for it, and keeps its budget.
        push(&mut ring, ChunkKind::State, 5_002, largest + 1);
        assert_eq!((ring.chunks.len(), ring.bytes), (0, 0));
    }

    #[test]
    fn a_budget_that_becomes_smaller_is_kept() {
        let mut ring = Ring::new(4 << 10);
        (1..=10).for_each(|at| push(&mut ring, ChunkKind::Polls, at, 200));
        let one = sum(&ring) / ring.chunks.len();
        ring.set_budget(3 * one);
        assert_eq!((ring.chunks.len(), ring.bytes), (3, 3 * one));
        assert_eq!(ring.between(0, 0), 7..10);
        push(&mut ring, ChunkKind::Polls, 11, 200);
        assert_eq!(ring.between(0, 0), 8..11);
    }

    #[test]
    fn a_budget_of_nothing_keeps_nothing() {
        let mut ring = Ring::new(0);
        assert_eq!(ring.largest_body(), 0);
        push(&mut ring, ChunkKind::Mark, 1, 0);
        assert_eq!(ring.next(&mut ring.between(0, 0)), None);
    }

    #[test]
    fn a_range_begins_with_the_state_that_shows_its_first_instant() {
        let mut ring = Ring::new(1 << 20);
        for (at, kind) in [
            (100, ChunkKind::State),
            (150, ChunkKind::Mark),
            (200, ChunkKind::State),
            (250, ChunkKind::Mark),
            (300, ChunkKind::State),
        ] {
            push(&mut ring, kind, at, 10);
        }
        for (from, to, expected) in [
            (0, 0, 0..5),
            (50, 0, 0..5),
            (100, 0, 0..5),
            (199, 0, 0..5),
            (200, 0, 2..5),
            (250, 250, 2..4),
            (260, 270, 2..4),
            (301, u64::MAX, 4..5),
            (u64::MAX, 0, 4..5),
            (0, 99, 0..0),
            (0, 300, 0..5),
            (0, 299, 0..4),
        ] {
            let range: Range<u64> = ring.between(from, to);
            assert_eq!(range, expected, "{from}..={to}");
        }
    }

    /// Of polls, too, only those of the requested time are sent, and a few chunks before.
    #[test]
    fn chunks_of_polls_reach_into_a_range() {
        let mut ring = Ring::new(1 << 20);
        let first = REACH as u64;
        (1..=10 * first).for_each(|at| push(&mut ring, ChunkKind::Polls, at, 10));
        // A poll of the whole time, which has just ended.
        push(&mut ring, ChunkKind::Events, 1, 10);
        let all = 10 * first + 1;
        for (from, to, expected) in [
            (0, 0, 0..all),
            (5, 0, 0..all),
            (5 * first + 1, 0, 4 * first..all),
            (5 * first + 1, 6 * first, 4 * first..all),
            (u64::MAX, 0, all - first..all),
        ] {
            assert_eq!(ring.reaching(from, to), expected, "{from}..={to}");
        }
        ring = Ring::new(1 << 20);
        (1..=10).for_each(|at| push(&mut ring, ChunkKind::Polls, at, 10));
        assert_eq!(ring.reaching(0, 4), 0..4);
        assert!(Ring::new(1 << 20).reaching(0, 0).is_empty());
    }

    #[test]
    fn what_is_overwritten_meanwhile_is_skipped() {
        let mut ring = Ring::new(10 * (OVERHEAD + HEADER_BYTES));
        for at in 1..=10 {
            push(&mut ring, ChunkKind::State, at, 0);
        }
        let mut range = ring.between(0, 0);
        let read = |ring: &Ring, range: &mut Range<u64>| {
            let chunk = ring.next(range)?;
            Some(u64::from_le_bytes(chunk[16..24].try_into().unwrap()))
        };
        assert_eq!(read(&ring, &mut range), Some(1));
        for at in 11..=15 {
            push(&mut ring, ChunkKind::State, at, 0);
        }
        assert_eq!(read(&ring, &mut range), Some(6));
        for at in 16..=18 {
            push(&mut ring, ChunkKind::State, at, 0);
        }
        for expected in [9, 10] {
            assert_eq!(read(&ring, &mut range), Some(expected));
        }
        assert_eq!(
            read(&ring, &mut range),
            None,
            "the range ends where it ended"
        );
        let mut range = ring.between(0, 0);
        for at in 20..=40 {
            push(&mut ring, ChunkKind::State, at, 0);
        }
        assert_eq!(read(&ring, &mut range), None);
    }
}
