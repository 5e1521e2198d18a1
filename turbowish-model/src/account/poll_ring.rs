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
use crate::account::paths::{PATH_IDS, PathId};
use crate::account::sync::{AtomicU64, fence};

/// The words of one poll.
pub type PollWords = [AtomicU64; 5];

/// Polls of the smallest ring.
pub const LEAST_POLLS: usize = if cfg!(all(test, loom)) { 16 } else { 256 };

const PATH_BITS: u32 = 17;
const PATH_MASK: u64 = (1 << PATH_BITS) - 1;
const _: () = assert!(PATH_IDS <= 1 << PATH_BITS);

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
    /// As in [`WakerReading::by`](crate::account::task::WakerReading::by); for a task's first poll,
    /// what spawned it.
    pub by: u64,
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

    fn of([end, hold, task, place, by]: [u64; 5]) -> Self {
        let latency = (place >> LATENCY_AT).checked_sub(1);
        Self {
            end,
            hold: hold >> PATH_BITS,
            task,
            path: (hold & PATH_MASK) as PathId,
            chain: (place & PATH_MASK) as PathId,
            outcome: PollOutcome::of((place >> PATH_BITS) as u8 & ((1 << OUTCOME_BITS) - 1)),
            wakeup: latency.map(|latency| Wakeup { latency, by }),
        }
    }
}

/// The ring of one thread. Only that thread writes it.
#[derive(Debug)]
pub struct PollRing {
    /// Number of polls so far.
    written: AtomicU64,
    /// A power of two of them.
    polls: Box<[PollWords]>,
}

impl Default for PollRing {
    fn default() -> Self {
        let polls = (0..LEAST_POLLS).map(|_| core::array::from_fn(|_| AtomicU64::new(0)));
        Self {
            written: AtomicU64::new(0),
            polls: polls.collect(),
        }
    }
}

impl PollRing {
    /// A ring in this memory, which is all zero. Too small a piece of memory is not used.
    #[must_use]
    pub fn new(polls: Box<[PollWords]>) -> Self {
        if !polls.len().is_power_of_two() || polls.len() < LEAST_POLLS {
            return Self::default();
        }
        Self {
            written: AtomicU64::new(0),
            polls,
        }
    }

    /// A ring that a loom test can lap in few steps.
    #[cfg(all(test, loom))]
    pub(crate) fn of_few(polls: usize) -> Self {
        let zero = || core::array::from_fn(|_| AtomicU64::new(0));
        Self {
            written: AtomicU64::new(0),
            polls: (0..polls).map(|_| zero()).collect(),
        }
    }

    /// Number of polls so far.
    #[inline]
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written.load(Relaxed)
    }

    /// Number of polls that it holds.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.polls.len() as u64
    }

    /// The place of a poll. There is always one: the compiler does not know it.
    #[inline(always)]
    fn place(&self, number: u64) -> Option<&PollWords> {
        let mask = self.polls.len() - 1;
        self.polls.get(number as usize & mask)
    }

    /// Adds a poll: within a write section of the thread, whose fence lies between this and what
    /// was stored before.
    #[inline(always)]
    pub(crate) fn push(&self, path: PathId, hold: u64, end: u64, task: u64) {
        let number = self.written.load(Relaxed);
        if let Some(place) = self.place(number) {
            place[0].store(end, Relaxed);
            place[1].store(hold << PATH_BITS | u64::from(path), Relaxed);
            place[2].store(task, Relaxed);
            place[3].store(0, Relaxed);
            self.written.store(number.wrapping_add(1), Release);
        }
    }

    /// Completes the last poll: where the task waits after it, how it ended, and what had made the
    /// task ready, if that is known. Only the thread itself calls this.
    #[inline(always)]
    pub fn complete(&self, chain: PathId, outcome: PollOutcome, wakeup: Option<Wakeup>) {
        let number = self.written.load(Relaxed).wrapping_sub(1);
        if let Some(place) = self.place(number) {
            let latency = wakeup.map_or(0, |wakeup| wakeup.latency.min(LONGEST_READY) + 1);
            let facts = latency << OUTCOME_BITS | u64::from(outcome.code());
            place[4].store(wakeup.map_or(0, |wakeup| wakeup.by), Relaxed);
            place[3].store(facts << PATH_BITS | u64::from(chain), Relaxed);
        }
    }

    /// A poll. Whole if the thread has not begun to overwrite it.
    pub(super) fn at(&self, number: u64) -> PollRecord {
        self.place(number).map(copy).unwrap_or_default()
    }

    /// Passes the polls from number `from` on to `each`, in their order. Any thread may call this.
    ///
    /// The newest one is left for the next time as long as its outcome is unknown, because its
    /// thread may be about to complete it, unless the thread `is_over`.
    pub fn read(&self, from: u64, is_over: bool, mut each: impl FnMut(PollRecord)) -> PollsRead {
        let until = self.written.load(Acquire);
        let mut read = PollsRead {
            lost: 0,
            next: from.min(until),
        };
        read.skip(until.saturating_sub(self.capacity()));
        let mut copies = [PollRecord::default(); PIECE];
        while read.next < until {
            let len = (until - read.next).min(PIECE as u64) as usize;
            for (nth, copied) in copies[..len].iter_mut().enumerate() {
                *copied = self.at(read.next + nth as u64);
            }
            fence(Acquire);
            // The next poll may be half written, in the place of the oldest one.
            let written = self.written.load(Relaxed);
            let first = read.next;
            read.skip((written + 1).saturating_sub(self.capacity()));
            let skipped = ((read.next - first) as usize).min(len);
            for copied in &copies[skipped..len] {
                let is_newest = read.next + 1 == until;
                if is_newest && !is_over && copied.outcome == PollOutcome::Unknown {
                    return read;
                }
                each(*copied);
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

fn copy(words: &PollWords) -> PollRecord {
    PollRecord::of(core::array::from_fn(|nth| words[nth].load(Relaxed)))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use alloc::boxed::Box;
    use alloc::vec::Vec;
    use core::array::from_fn;

    use proptest::prelude::*;

    use super::{
        AtomicU64, LEAST_POLLS, LONGEST_READY, PIECE, PollOutcome, PollRecord, PollRing, Wakeup,
    };

    const OUTCOMES: [PollOutcome; 5] = [
        PollOutcome::Unknown,
        PollOutcome::Pending,
        PollOutcome::Ready,
        PollOutcome::Err,
        PollOutcome::Panicked,
    ];

    fn ring(polls: usize) -> PollRing {
        let zero = || from_fn(|_| AtomicU64::new(0));
        PollRing::new((0..polls).map(|_| zero()).collect::<Box<[_]>>())
    }

    #[test]
    fn a_ring_that_is_too_small_or_no_power_of_two_is_not_used() {
        for (asked, given) in [(0, 256), (16, 256), (300, 256), (256, 256), (1_024, 1_024)] {
            assert_eq!(ring(asked).capacity(), given);
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
            let wakeup = |latency| Some(Wakeup { latency, by: 9 });
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
                            by: draw(u64::MAX),
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
                let mut polls = Vec::new();
                let read = ring.read(next, false, |poll| polls.push(poll));
                let from = next as usize + read.lost as usize;
                prop_assert_eq!(&all[from..read.next as usize], &polls[..]);
                lost += read.lost;
                let is_open = |poll: &PollRecord| poll.outcome == PollOutcome::Unknown;
                let held_back = usize::from(all.last().is_some_and(is_open));
                prop_assert_eq!(read.next as usize + held_back, all.len());
                next = read.next;
            }
            let read = ring.read(next, true, |_| ());
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
        let read = ring.read(0, false, |poll| {
            if poll.end == 1 {
                (capacity..capacity * 3 / 2).for_each(push);
            }
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
