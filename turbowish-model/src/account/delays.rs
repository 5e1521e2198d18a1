//! Delays: for the polls of tasks that were ready for long, which root functions ran meanwhile on
//! the worker that then polled them.
//!
//! The ready time of such a poll lies between the task's wake and the poll. It is shared out to
//! the polls at the bottom of that worker's stack: each instant belongs to the root function of the
//! poll that covers it, or to none. Nothing is sampled; what has no room is counted as
//! [`Culprit::Other`].

use core::sync::atomic::AtomicU32 as OwnU32;
use core::sync::atomic::Ordering::Relaxed;

use crate::account::counters::PROC_LIMIT;
use crate::account::histogram::add;
use crate::account::seqlock::SeqLock;
use crate::account::sync::{AtomicU32, AtomicU64, in_place};
use crate::ordered::Map;

/// Ready time from which the polls before a poll are looked at, in nanoseconds.
pub const DELAY_MIN_NS: u64 = 100_000;

/// What a worker did while a task was ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Culprit {
    /// It polled tasks with this proc as root.
    Proc(u32),
    /// It polled nothing that is accounted: it was idle, ran other code, or the task was in another
    /// worker's queue.
    Idle,
    /// Unknown: so long ago that the thread does not keep it.
    Earlier,
    /// It polled tasks for whose root function there was no room.
    Other,
}

impl Culprit {
    const fn code(self) -> u32 {
        match self {
            Self::Proc(proc) if proc < PROC_LIMIT => proc,
            Self::Proc(_) | Self::Other => PROC_LIMIT,
            Self::Idle => PROC_LIMIT + 1,
            Self::Earlier => PROC_LIMIT + 2,
        }
    }

    const fn of(code: u32) -> Self {
        match code {
            proc if proc < PROC_LIMIT => Self::Proc(proc),
            PROC_LIMIT => Self::Other,
            code if code == PROC_LIMIT + 1 => Self::Idle,
            _ => Self::Earlier,
        }
    }
}

/// Who was delayed by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DelayKey {
    /// Root proc of the delayed tasks; `None` if there was no room for it.
    pub victim: Option<u32>,
    /// What the worker did meanwhile.
    pub culprit: Culprit,
}

const CULPRIT_BITS: u32 = 16;

impl DelayKey {
    /// In one word, which is not 0.
    const fn word(self) -> u32 {
        let victim = match self.victim {
            Some(proc) => proc + 1,
            None => PROC_LIMIT + 1,
        };
        victim << CULPRIT_BITS | self.culprit.code()
    }

    fn of(word: u32) -> Option<Self> {
        let victim = (word >> CULPRIT_BITS).checked_sub(1)?;
        Some(Self {
            victim: (victim < PROC_LIMIT).then_some(victim),
            culprit: Culprit::of(word & ((1 << CULPRIT_BITS) - 1)),
        })
    }
}

const _: () = assert!(PROC_LIMIT + 2 < 1 << CULPRIT_BITS);

/// Delays of one key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DelayStats {
    /// Number of polls of the victim that were delayed so.
    pub polls: u64,
    /// Part of their ready time, in ticks.
    pub ticks: u64,
}

impl DelayStats {
    /// Adds others.
    pub const fn merge(&mut self, other: &Self) {
        self.polls = self.polls.wrapping_add(other.polls);
        self.ticks = self.ticks.wrapping_add(other.ticks);
    }

    /// Growth since an earlier state.
    #[must_use]
    pub const fn since(&self, earlier: &Self) -> Self {
        Self {
            polls: self.polls.saturating_sub(earlier.polls),
            ticks: self.ticks.saturating_sub(earlier.ticks),
        }
    }
}

/// Delays by key.
pub type Delays = Map<DelayKey, DelayStats>;

/// Keys of one thread. Some of the cells are for [`Culprit::Other`] only.
const CELLS: usize = in_place(256);
const ORDINARY: u32 = CELLS as u32 / 4 * 3;

/// The delays of one thread: written by that thread alone, within the write sections of its
/// ledger.
pub(crate) struct DelayTable {
    cells: [DelayCell; CELLS],
    /// What has no cell.
    rest: DelayCell,
    used: OwnU32,
}

#[derive(Default)]
struct DelayCell {
    /// The key's word; 0 is a free cell.
    key: AtomicU32,
    polls: AtomicU64,
    ticks: AtomicU64,
}

impl Default for DelayTable {
    fn default() -> Self {
        let table = Self {
            cells: core::array::from_fn(|_| DelayCell::default()),
            rest: DelayCell::default(),
            used: OwnU32::new(0),
        };
        let nobody = DelayKey {
            victim: None,
            culprit: Culprit::Other,
        };
        table.rest.key.store(nobody.word(), Relaxed);
        table
    }
}

impl DelayTable {
    /// Adds the part of one poll's ready time that belongs to a key.
    pub(crate) fn add(&self, key: DelayKey, ticks: u64) {
        let other = DelayKey {
            culprit: Culprit::Other,
            ..key
        };
        let cell = self.cell(key.word(), ORDINARY);
        let cell = cell.or_else(|| self.cell(other.word(), CELLS as u32 - 1));
        let cell = cell.unwrap_or(&self.rest);
        add(&cell.polls, 1);
        add(&cell.ticks, ticks);
    }

    /// The cell of a key, or a free one if fewer than `limit` are in use.
    fn cell(&self, key: u32, limit: u32) -> Option<&DelayCell> {
        const GOLDEN: u32 = 0x9e37_79b9;
        let first = (key.wrapping_mul(GOLDEN) >> 16) as usize;
        let cells = (0..CELLS).map(|step| &self.cells[(first + step) % CELLS]);
        for cell in cells {
            match cell.key.load(Relaxed) {
                seen if seen == key => return Some(cell),
                0 => {
                    let used = self.used.load(Relaxed);
                    if used >= limit {
                        return None;
                    }
                    self.used.store(used + 1, Relaxed);
                    cell.key.store(key, Relaxed);
                    return Some(cell);
                }
                _ => {}
            }
        }
        None
    }

    /// Adds this thread's delays to `into`. `sequence` is that of the ledger.
    pub(crate) fn read(&self, sequence: &SeqLock, into: &mut Delays, relax: &mut dyn FnMut()) {
        for cell in self.cells.iter().chain([&self.rest]) {
            let (key, seen) = sequence.read(relax, || cell.read());
            if let Some(key) = DelayKey::of(key).filter(|_| seen.polls > 0) {
                into.entry(key).or_default().merge(&seen);
            }
        }
    }
}

impl DelayCell {
    fn read(&self) -> (u32, DelayStats) {
        let stats = DelayStats {
            polls: self.polls.load(Relaxed),
            ticks: self.ticks.load(Relaxed),
        };
        (self.key.load(Relaxed), stats)
    }
}
