//! The events of calls, of all threads in one order, with what ends calls and polls without an
//! event of their own: the end of an epoch, and gaps.

mod stacks;
mod thread;

use alloc::collections::btree_map::IntoIter;
use alloc::collections::{BTreeMap, BinaryHeap};
use alloc::vec::Vec;
use core::cmp::Reverse;

pub use self::stacks::{AsyncStacks, LiveCall};
use self::thread::{CallStep, ThreadCalls, Turn};
use crate::event::Event;
use crate::event::call_ring::CallRecord;

/// Events of one thread in one epoch, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallRun {
    /// Number of the thread.
    pub thread: u64,
    /// Number of the epoch, which rises; 0 if it is not known.
    pub epoch: u32,
    /// Number of the first of these events among those of the thread in the epoch, from 0. `None`
    /// if it is not known: then they follow those before, unless some are lost.
    pub first: Option<u64>,
    /// Number of events directly before these that are known to be lost. Where the number of the
    /// first one is known, that says it.
    pub lost: u64,
    /// When the epoch ended, if it is known to have ended.
    pub ended: Option<u64>,
    /// What to add to a time of these events to get it on a clock that all of them share, and that
    /// nobody sets.
    pub steady: i64,
    /// The events in their order.
    pub events: Vec<CallRecord>,
}

/// What [`RecordedCalls`] has, one after the other. Times `t` are on the clock that all events
/// share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallItem {
    /// An event of a call.
    Event {
        /// The event.
        event: Event,
        /// Its time as it was recorded, beside the times of other things in the recording.
        at: u64,
    },
    /// From here on, events of a thread are missing.
    GapBegin {
        /// Time of the last event before.
        t: u64,
        /// Number of the thread.
        thread: u64,
    },
    /// The events of a thread go on.
    GapEnd {
        /// Time of the first event after.
        t: u64,
        /// Number of the thread.
        thread: u64,
        /// Number of the missing events.
        lost: u64,
    },
    /// An epoch is over: sums begin anew, and so do the numbers of calls.
    EpochEnd {
        /// When it ended, or its last event, if that is later or no end is recorded.
        t: u64,
        /// Number of the epoch; 0 if it is not known.
        epoch: u32,
    },
}

impl CallItem {
    /// The instant at which polls that are open, and calls that live, are over: `None` for an
    /// event. At either end of a gap, what is missing may have ended any of them.
    #[must_use]
    pub const fn cut(&self) -> Option<u64> {
        match *self {
            Self::Event { .. } => None,
            Self::GapBegin { t, .. } | Self::GapEnd { t, .. } | Self::EpochEnd { t, .. } => Some(t),
        }
    }
}

/// The events of calls of a recording, which are added thread by thread.
#[derive(Clone, Debug, Default)]
pub struct RecordedCalls(BTreeMap<u32, EpochCalls>);

/// The events of an epoch.
#[derive(Clone, Debug, Default)]
struct EpochCalls {
    ended: Option<u64>,
    /// The threads with their numbers, in the order in which they were added: that in which they
    /// began.
    threads: Vec<(u64, ThreadCalls)>,
    /// Their places there, by number.
    places: BTreeMap<u64, usize>,
}

impl EpochCalls {
    fn thread(&mut self, number: u64) -> &mut ThreadCalls {
        let new = self.threads.len();
        let at = *self.places.entry(number).or_insert(new);
        if at == new {
            self.threads.push((number, ThreadCalls::default()));
        }
        &mut self.threads[at].1
    }
}

impl RecordedCalls {
    /// Adds events. Those of a thread in an epoch are added in their order; events that are added
    /// twice count once.
    pub fn add(&mut self, run: CallRun) {
        let epoch = self.0.entry(run.epoch).or_default();
        let ended = run.ended.map(|at| at.wrapping_add_signed(run.steady));
        epoch.ended = epoch.ended.max(ended);
        epoch.thread(run.thread).add(run, ended);
    }
}

impl IntoIterator for RecordedCalls {
    type Item = CallItem;
    type IntoIter = CallsInOrder;

    /// All of them, epoch by epoch, in the order of their times. Each thread's events are in the
    /// order in which it wrote them.
    fn into_iter(self) -> CallsInOrder {
        let mut calls = CallsInOrder {
            current: None,
            turns: BinaryHeap::new(),
            later: self.0.into_iter(),
            now: 0,
        };
        calls.begin_epoch();
        calls
    }
}

/// Iterator of [`RecordedCalls`].
#[derive(Debug)]
pub struct CallsInOrder {
    /// The epoch whose items come now, and its number.
    current: Option<(u32, EpochCalls)>,
    /// The places of its threads that have a further step, by the turn of that; the first one comes
    /// first.
    turns: BinaryHeap<Reverse<(Turn, usize)>>,
    later: IntoIter<u32, EpochCalls>,
    /// Time of the last item.
    now: u64,
}

impl CallsInOrder {
    fn begin_epoch(&mut self) {
        self.current = self.later.next();
        let threads = self.current.iter().flat_map(|(_, epoch)| &epoch.threads);
        let turns = threads.enumerate();
        let turns = turns.filter_map(|(at, (_, calls))| Some(Reverse((calls.turn()?, at))));
        self.turns = turns.collect();
    }

    fn end_epoch(&mut self) -> Option<CallItem> {
        let (epoch, EpochCalls { ended, .. }) = self.current.take()?;
        self.begin_epoch();
        // One that is followed by another one has ended, though its end is not recorded.
        let is_over = ended.is_some() || self.current.is_some();
        let t = ended.unwrap_or_default().max(self.now);
        is_over.then_some(CallItem::EpochEnd { t, epoch })
    }

    /// The next step of the epoch and its thread; `None` for a step that is left out.
    fn step(&mut self, at: usize) -> Option<(u64, CallStep)> {
        let (_, epoch) = self.current.as_mut()?;
        let (thread, calls) = epoch.threads.get_mut(at)?;
        let step = calls.next();
        let next = calls.turn().map(|turn| Reverse((turn, at)));
        self.turns.extend(next);
        Some((*thread, step?))
    }
}

impl Iterator for CallsInOrder {
    type Item = CallItem;

    fn next(&mut self) -> Option<CallItem> {
        loop {
            let Some(Reverse((_, at))) = self.turns.pop() else {
                return self.end_epoch();
            };
            // Others are of an innermost poll that is not known.
            let Some((thread, step)) = self.step(at) else {
                continue;
            };
            let (t, item) = match step {
                CallStep::Event { t, at, kind } => {
                    let event = Event { t, thread, kind };
                    (t, CallItem::Event { event, at })
                }
                CallStep::GapBegin(t) => (t, CallItem::GapBegin { t, thread }),
                CallStep::GapEnd(t, lost) => (t, CallItem::GapEnd { t, thread, lost }),
            };
            self.now = self.now.max(t);
            return Some(item);
        }
    }
}

#[cfg(test)]
mod tests;
