//! The last polls of a thread: those at the bottom of its stack, one after another, in a ring that
//! the thread overwrites.
//!
//! A poll is five words: when it ended, how long it took, which task it was, where that task waits
//! now, and what had made it ready. The thread reads no clock for them and takes no lock. A
//! reader copies what it has not seen yet, looks again at how far the thread is by then, drops what
//! may have been overwritten meanwhile, and counts it.

use alloc::boxed::Box;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::account::call::PollEnd;
use crate::account::paths::{PATH_BITS, PathId};
use crate::account::sync::{AtomicU64, fence};
use crate::account::task::WakeSource;

/// The words of one poll.
pub type PollWords = [AtomicU64; 5];

/// Polls of the smallest ring.
pub const LEAST_POLLS: usize = if cfg!(all(test, loom)) { 16 } else { 256 };

const PATH_MASK: u64 = (1 << PATH_BITS) - 1;

const OUTCOME_BITS: u32 = 3;
const LATENCY_AT: u32 = PATH_BITS + OUTCOME_BITS;
/// Longest ready time, in ticks: more than an hour. Longer ones are cut.
pub const LONGEST_READY: u64 = (1 << (u64::BITS - LATENCY_AT)) - 2;

/// How a poll of a task ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PollOutcome {
    /// Accounting was disarmed during the poll, or it has just ended.
    #[default]
    Unknown,
    /// The task waits.
    Pending,
    /// The task has returned.
    Ready,
    /// The task has returned an `Err`.
    Err,
    /// The task has panicked.
    Panicked,
}

impl PollOutcome {
    /// A number for it, below 8.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Unknown => 0,
            Self::Pending => 1,
            Self::Ready => 2,
            Self::Err => 3,
            Self::Panicked => 4,
        }
    }

    /// That with this number.
    #[must_use]
    pub const fn of(code: u8) -> Self {
        match code {
            1 => Self::Pending,
            2 => Self::Ready,
            3 => Self::Err,
            4 => Self::Panicked,
            _ => Self::Unknown,
        }
    }
}

impl From<PollEnd> for PollOutcome {
    #[inline]
    fn from(end: PollEnd) -> Self {
        match end {
            PollEnd::Pending => Self::Pending,
            PollEnd::Ready => Self::Ready,
            PollEnd::Err => Self::Err,
            PollEnd::Panic | PollEnd::Torn => Self::Panicked,
        }
    }
}

/// What had made a task ready for a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wakeup {
    /// Ticks from the wake to the start of the poll, at most [`LONGEST_READY`].
    pub latency: u64,
    /// What woke it; for a task's first poll, what spawned it.
    pub by: WakeSource,
}

/// A poll at the bottom of a thread's stack. Times are in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PollRecord {
    /// When it ended.
    pub end: u64,
    /// Its duration.
    pub hold: u64,
    /// The task; 0 if it is not known.
    pub task: u64,
    /// Path of the first call that had something to do in the poll, or of the await point at which
    /// that call waits.
    pub path: PathId,
    /// The chain of calls in which the task waits after a pending poll, in the table of chains; 0
    /// if it is no chain.
    pub chain: PathId,
    /// How it ended.
    pub outcome: PollOutcome,
    /// What had made the task ready, if that was seen.
    pub wakeup: Option<Wakeup>,
}

impl PollRecord {
    /// When the poll began.
    #[must_use]
    pub const fn start(&self) -> u64 {
        self.end.wrapping_sub(self.hold)
    }

    #[inline]
    fn of([end, hold, task, place, by]: [u64; 5]) -> Self {
        let latency = (place >> LATENCY_AT).checked_sub(1);
        Self {
            end,
            hold: hold >> PATH_BITS,
            task,
            path: (hold & PATH_MASK) as PathId,
            chain: (place & PATH_MASK) as PathId,
            outcome: PollOutcome::of((place >> PATH_BITS) as u8 & ((1 << OUTCOME_BITS) - 1)),
            wakeup: latency.map(|latency| Wakeup {
                latency,
                by: WakeSource::from_bits(by),
            }),
        }
    }
}

/// Words of the memory of a ring that keeps so many polls.
#[must_use]
pub const fn ring_places(polls: usize) -> usize {
    polls + HEAD
}

/// Places before the polls. Their words are the number of polls so far, and the number of the
/// thread.
const HEAD: usize = 1;
const WRITTEN: usize = 0;
const THREAD_NUMBER: usize = 1;

/// Memory of a ring: its head, then a power of two of places for polls. Both kinds are found by the
/// same loads, so that the compiler leaves the question out.
#[derive(Debug)]
enum Words {
    Own(Box<[PollWords]>),
    /// It stays when the ring is gone, or even the process.
    Lent(&'static [PollWords]),
}

/// The ring of one thread. Only that thread writes it.
#[derive(Debug)]
pub struct PollRing(Words);

impl Default for PollRing {
    fn default() -> Self {
        Self::of(LEAST_POLLS)
    }
}

impl PollRing {
    fn of(polls: usize) -> Self {
        let zero = || core::array::from_fn(|_| AtomicU64::new(0));
        Self(Words::Own(
            (0..ring_places(polls)).map(|_| zero()).collect(),
        ))
    }

    /// The ring of the thread with this number, in memory of [`ring_places`] that no other thread
    /// writes. What was there before is overwritten. Memory of another size is not used.
    #[must_use]
    pub fn lent(memory: &'static [PollWords], thread: u32) -> Self {
        let Some((head, _)) = parts(memory).filter(|_| fits(memory)) else {
            return Self::default();
        };
        // In this order: a reader of what a dead process has left sees no poll of another thread.
        head[WRITTEN].store(0, Release);
        head[THREAD_NUMBER].store(thread.into(), Release);
        Self(Words::Lent(memory))
    }

    /// The ring in this memory, as a thread has left it; `None` if it is no memory of a ring.
    #[must_use]
    pub fn left(memory: Box<[PollWords]>) -> Option<Self> {
        fits(&memory).then_some(Self(Words::Own(memory)))
    }

    /// The memory that was lent to it.
    #[must_use]
    pub fn loan(&self) -> Option<&'static [PollWords]> {
        match self.0 {
            Words::Own(_) => None,
            Words::Lent(memory) => Some(memory),
        }
    }

    /// A ring that a loom test can lap in few steps.
    #[cfg(all(test, loom))]
    pub(crate) fn of_few(polls: usize) -> Self {
        Self::of(polls)
    }

    /// Its head and its places. There are always some: the compiler does not know it.
    #[inline(always)]
    fn parts(&self) -> Option<(&PollWords, &[PollWords])> {
        parts(match &self.0 {
            Words::Own(memory) => memory,
            Words::Lent(memory) => memory,
        })
    }

    /// Number of polls so far.
    #[inline]
    #[must_use]
    pub fn written(&self) -> u64 {
        let head = self.parts().map(|(head, _)| head);
        head.map_or(0, |head| head[WRITTEN].load(Relaxed))
    }

    /// The number of its thread, if its memory was lent.
    #[must_use]
    pub fn thread(&self) -> u64 {
        let head = self.parts().map(|(head, _)| head);
        head.map_or(0, |head| head[THREAD_NUMBER].load(Relaxed))
    }

    /// Number of polls that it holds.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.parts().map_or(0, |(_, places)| places.len() as u64)
    }

    /// Adds a poll: within a write section of the thread, whose fence lies between this and what
    /// was stored before.
    ///
    /// If the process dies in here, the poll is whole, or it is not counted and has damaged the
    /// oldest one: the number of polls is stored last.
    #[inline(always)]
    pub(crate) fn push(&self, path: PathId, hold: u64, end: u64, task: u64) {
        self.write(path, [hold, end, task], |place| place[3].store(0, Relaxed));
    }

    /// Adds a poll with which a task returned that had not waited before, and of which it is not
    /// known what had made it ready. In the same way as [`PollRing::push`].
    #[inline(always)]
    pub(crate) fn push_only(&self, path: PathId, hold: u64, end: u64, task: u64) {
        let outcome = u64::from(PollOutcome::Ready.code());
        self.write(path, [hold, end, task], |place| {
            place[3].store(outcome << PATH_BITS, Relaxed);
            place[4].store(0, Relaxed);
        });
    }

    #[inline(always)]
    fn write(&self, path: PathId, [hold, end, task]: [u64; 3], rest: impl FnOnce(&PollWords)) {
        let Some((head, places)) = self.parts() else {
            return;
        };
        let number = head[WRITTEN].load(Relaxed);
        if let Some(place) = place(places, number) {
            place[0].store(end, Relaxed);
            place[1].store(hold << PATH_BITS | u64::from(path), Relaxed);
            place[2].store(task, Relaxed);
            rest(place);
            head[WRITTEN].store(number.wrapping_add(1), Release);
        }
    }

    /// Completes the last poll: where the task waits after it, how it ended, and what had made the
    /// task ready, if that is known. Only the thread itself calls this.
    ///
    /// If the process dies in here, its outcome is unknown: that is stored last.
    #[inline(always)]
    pub fn complete(&self, chain: PathId, outcome: PollOutcome, wakeup: Option<Wakeup>) {
        let Some((head, places)) = self.parts() else {
            return;
        };
        let number = head[WRITTEN].load(Relaxed).wrapping_sub(1);
        if let Some(place) = place(places, number) {
            let latency = wakeup.map_or(0, |wakeup| wakeup.latency.min(LONGEST_READY) + 1);
            let facts = latency << OUTCOME_BITS | u64::from(outcome.code());
            place[4].store(wakeup.map_or(0, |wakeup| wakeup.by.bits()), Relaxed);
            place[3].store(facts << PATH_BITS | u64::from(chain), Release);
        }
    }

    /// A poll. Whole if the thread has not begun to overwrite it.
    pub(super) fn at(&self, number: u64) -> PollRecord {
        PollRecord::of(self.words(number))
    }

    #[inline]
    fn words(&self, number: u64) -> [u64; 5] {
        let found = self.parts().and_then(|(_, places)| place(places, number));
        found.map(copy).unwrap_or_default()
    }

    /// Passes the polls from number `from` on to `each`, in their order, each with its number. Any
    /// thread may call this.
    ///
    /// The newest one is left for the next time as long as its outcome is unknown, because its
    /// thread may be about to complete it, unless the thread `is_over`.
    pub fn read(
        &self,
        from: u64,
        is_over: bool,
        mut each: impl FnMut(u64, PollRecord),
    ) -> PollsRead {
        let head = self.parts().map(|(head, _)| head);
        let written = |order| head.map_or(0, |head| head[WRITTEN].load(order));
        let until = written(Acquire);
        let mut read = PollsRead {
            lost: 0,
            next: from.min(until),
        };
        read.skip(until.saturating_sub(self.capacity()));
        let mut copies = [[0; 5]; PIECE];
        while read.next < until {
            let len = (until - read.next).min(PIECE as u64) as usize;
            for (nth, copied) in copies[..len].iter_mut().enumerate() {
                *copied = self.words(read.next + nth as u64);
            }
            fence(Acquire);
            // The next poll may be half written, in the place of the oldest one.
            let next = written(Relaxed).saturating_add(1);
            let first = read.next;
            read.skip(next.saturating_sub(self.capacity()));
            let skipped = ((read.next - first) as usize).min(len);
            for words in &copies[skipped..len] {
                let copied = PollRecord::of(*words);
                let is_newest = read.next + 1 == until;
                if is_newest && !is_over && copied.outcome == PollOutcome::Unknown {
                    return read;
                }
                each(read.next, copied);
                read.next += 1;
            }
        }
        read
    }
}

/// Polls that are copied at once.
const PIECE: usize = if cfg!(all(test, loom)) { 2 } else { 64 };

/// How far a reader got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollsRead {
    /// Number of polls that were overwritten before they could be read.
    pub lost: u64,
    /// Number of the next poll.
    pub next: u64,
}

impl PollsRead {
    fn skip(&mut self, to: u64) {
        if to > self.next {
            self.lost += to - self.next;
            self.next = to;
        }
    }
}

/// Whether it is the memory of a ring.
fn fits(memory: &[PollWords]) -> bool {
    let polls = memory.len().saturating_sub(HEAD);
    polls.is_power_of_two() && polls >= LEAST_POLLS
}

/// Head and places of the memory of a ring.
#[inline(always)]
fn parts(memory: &[PollWords]) -> Option<(&PollWords, &[PollWords])> {
    match memory {
        // One comparison for both.
        [head, _, ..] => Some((head, &memory[HEAD..])),
        _ => None,
    }
}

/// The place of a poll.
#[inline(always)]
fn place(places: &[PollWords], number: u64) -> Option<&PollWords> {
    let mask = places.len() - 1;
    places.get(number as usize & mask)
}

#[inline]
fn copy(words: &PollWords) -> [u64; 5] {
    // The fourth word first: what is stored before it is there if it is.
    let place = words[3].load(Acquire);
    let [end, hold, task, _, by] = core::array::from_fn(|nth| words[nth].load(Relaxed));
    [end, hold, task, place, by]
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::boxed::Box;
    use alloc::vec::Vec;
    use core::array::from_fn;

    use proptest::prelude::*;

    use super::{
        AtomicU64, LEAST_POLLS, LONGEST_READY, PIECE, PollOutcome, PollRecord, PollRing, PollWords,
        Relaxed, WakeSource, Wakeup, ring_places,
    };

    const OUTCOMES: [PollOutcome; 5] = [
        PollOutcome::Unknown,
        PollOutcome::Pending,
        PollOutcome::Ready,
        PollOutcome::Err,
        PollOutcome::Panicked,
    ];

    fn memory(places: usize) -> Box<[PollWords]> {
        let zero = || from_fn(|_| AtomicU64::new(0));
        (0..places).map(|_| zero()).collect()
    }

    fn ring(polls: usize) -> PollRing {
        PollRing::lent(Box::leak(memory(ring_places(polls))), 7)
    }

    #[test]
    fn memory_that_is_too_small_or_no_power_of_two_is_not_used() {
        for (asked, given) in [(0, 256), (16, 256), (300, 256), (256, 256), (1_024, 1_024)] {
            let ring = ring(asked);
            assert_eq!(ring.capacity(), given);
            assert_eq!(
                (ring.loan().is_some(), ring.thread()),
                match asked {
                    256 | 1_024 => (true, 7),
                    _ => (false, 0),
                }
            );
            let left = PollRing::left(memory(ring_places(asked)));
            assert_eq!(left.is_some(), asked as u64 == given);
        }
        assert!(PollRing::left(memory(0)).is_none());
    }

    #[test]
    fn a_place_that_is_lent_again_has_no_poll_of_the_thread_before() {
        let before = ring(LEAST_POLLS);
        for end in 1..1_000 {
            before.push(1, 2, end, 4);
        }
        let memory = before.loan().expect("memory that was lent");
        let after = PollRing::lent(memory, 8);
        assert_eq!((after.written(), after.thread()), (0, 8));
        after.push(1, 2, 3, 4);
        let mut ends = Vec::new();
        let read = after.read(0, true, |_, poll| ends.push(poll.end));
        assert_eq!((&ends[..], read.next, read.lost), (&[3][..], 1, 0));
    }

    /// A process dies at any store of a poll: the stores before are there, those after are not.
    #[test]
    fn a_poll_that_is_cut_short_is_whole_or_not_counted() {
        const CAPACITY: u64 = LEAST_POLLS as u64;
        let whole = |end| PollRecord {
            end,
            hold: end + 1,
            task: end + 2,
            path: 5,
            chain: 6,
            outcome: PollOutcome::Pending,
            wakeup: Some(Wakeup {
                latency: 7,
                by: WakeSource::from_bits(end + 3),
            }),
        };
        // In the order in which they are stored: words of the place, then of the head.
        for stores in 0..=7 {
            let ring = ring(LEAST_POLLS);
            let add = |end| {
                let poll = whole(end);
                ring.push(poll.path, poll.hold, poll.end, poll.task);
                ring.complete(poll.chain, poll.outcome, poll.wakeup);
            };
            (0..CAPACITY).for_each(add);
            let before: [u64; 5] = words(&ring, 0);
            add(CAPACITY);
            let after: [u64; 5] = words(&ring, 0);
            let (head, places) = ring.parts().expect("places");
            let mut cut = before;
            for nth in 0..usize::min(stores, 4) {
                cut[nth] = if nth == 3 { 0 } else { after[nth] };
            }
            if stores >= 6 {
                cut[4] = after[4];
            }
            if stores >= 7 {
                cut[3] = after[3];
            }
            for (word, value) in places[0].iter().zip(cut) {
                word.store(value, Relaxed);
            }
            let is_counted = stores >= 5;
            head[0].store(CAPACITY + u64::from(is_counted), Relaxed);
            let mut polls = Vec::new();
            let read = ring.read(0, true, |_, poll| polls.push(poll));
            // The place of the oldest one may be damaged, so it is not read.
            let first = 1 + u64::from(is_counted);
            assert_eq!(read.lost, first, "{stores}");
            let mut expected: Vec<_> = (first..CAPACITY + u64::from(is_counted))
                .map(whole)
                .collect();
            if is_counted && stores < 7 {
                let last = expected.last_mut().expect("polls");
                (last.chain, last.outcome, last.wakeup) = (0, PollOutcome::Unknown, None);
            }
            assert_eq!(polls, expected, "{stores}");
        }
    }

    fn words(ring: &PollRing, nth: usize) -> [u64; 5] {
        let (_, places) = ring.parts().expect("places");
        from_fn(|word| places[nth][word].load(Relaxed))
    }

    #[test]
    fn any_number_of_polls_is_read_or_skipped() {
        for written in [u64::MAX, u64::MAX - 1, 1 << 63, 257, 256, 255] {
            let ring = ring(LEAST_POLLS);
            ring.parts().expect("places").0[0].store(written, Relaxed);
            let mut count = 0;
            let read = ring.read(0, true, |_, _| count += 1);
            assert_eq!((read.lost + count, read.next), (written, written));
            assert!(count <= LEAST_POLLS as u64);
        }
    }

    #[test]
    fn the_longest_ready_time_is_cut() {
        for (latency, read) in [
            (0, 0),
            (LONGEST_READY, LONGEST_READY),
            (u64::MAX, LONGEST_READY),
        ] {
            let ring = ring(LEAST_POLLS);
            ring.push(1, 2, 3, 4);
            let wakeup = |latency| {
                Some(Wakeup {
                    latency,
                    by: WakeSource::from_bits(9),
                })
            };
            ring.complete(5, PollOutcome::Pending, wakeup(latency));
            assert_eq!(ring.at(0).wakeup, wakeup(read), "{latency}");
        }
    }

    proptest! {
        /// Every poll is read once and whole, or counted as lost, whatever is written between two
        /// reads.
        #[test]
        fn each_poll_is_read_or_counted(
            rounds in proptest::collection::vec(
                (0_usize..LEAST_POLLS * 3, any::<bool>()), 1..8,
            ),
            seed in any::<u64>(),
        ) {
            let ring = ring(LEAST_POLLS);
            let mut random = seed;
            let mut draw = |below: u64| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 17) % below
            };
            let (mut all, mut next, mut lost) = (Vec::new(), 0, 0);
            for (count, is_complete) in rounds {
                for left in (0..count).rev() {
                    let poll = PollRecord {
                        end: draw(u64::MAX),
                        hold: draw(1 << 47),
                        task: draw(u64::MAX),
                        path: draw(1 << 17) as u32,
                        chain: draw(1 << 17) as u32,
                        outcome: OUTCOMES[1 + draw(4) as usize],
                        wakeup: (draw(4) > 0).then(|| Wakeup {
                            latency: draw(LONGEST_READY),
                            by: WakeSource::from_bits(draw(u64::MAX)),
                        }),
                    };
                    ring.push(poll.path, poll.hold, poll.end, poll.task);
                    if left > 0 || is_complete {
                        ring.complete(poll.chain, poll.outcome, poll.wakeup);
                        all.push(poll);
                    } else {
                        let outcome = PollOutcome::Unknown;
                        all.push(PollRecord { chain: 0, outcome, wakeup: None, ..poll });
                    }
                }
                let (mut polls, mut numbers) = (Vec::new(), Vec::new());
                let read = ring.read(next, false, |number, poll| {
                    polls.push(poll);
                    numbers.push(number);
                });
                let from = next as usize + read.lost as usize;
                prop_assert_eq!(numbers, (from as u64..read.next).collect::<Vec<_>>());
                prop_assert_eq!(&all[from..read.next as usize], &polls[..]);
                lost += read.lost;
                let is_open = |poll: &PollRecord| poll.outcome == PollOutcome::Unknown;
                let held_back = usize::from(all.last().is_some_and(is_open));
                prop_assert_eq!(read.next as usize + held_back, all.len());
                next = read.next;
            }
            let read = ring.read(next, true, |_, _| ());
            prop_assert_eq!(read.next as usize, all.len());
            prop_assert!(lost + read.lost <= all.len() as u64);
        }
    }

    #[test]
    fn a_reader_that_is_slow_loses_the_oldest_polls_and_knows_how_many() {
        let ring = ring(LEAST_POLLS);
        let push = |end: u64| {
            ring.push(1, 0, end, 1);
            ring.complete(0, PollOutcome::Pending, None);
        };
        let capacity = LEAST_POLLS as u64;
        (0..capacity).for_each(push);
        let mut ends = Vec::new();
        // While the first piece is passed on, the thread writes half of the ring.
        let read = ring.read(0, false, |number, poll| {
            if poll.end == 1 {
                (capacity..capacity * 3 / 2).for_each(push);
            }
            assert_eq!(number, poll.end);
            ends.push(poll.end);
        });
        let piece = PIECE as u64;
        // The thread may be about to overwrite the oldest one.
        assert_eq!(
            (read.next, read.lost),
            (capacity, 1 + capacity / 2 + 1 - piece)
        );
        let expected: Vec<u64> = (1..piece).chain(capacity / 2 + 1..capacity).collect();
        assert_eq!(ends, expected);
    }
}
