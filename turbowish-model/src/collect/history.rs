//! History of the last minute of a process: the growth per tick, so that any window is a sum of
//! whole ticks.
//!
//! The latest ticks are kept one by one, those of ten seconds at least, and all ticks in groups of
//! four: a window adds up few groups, and the ticks at its two ends. Procs without activity take no
//! space. Totals since the start are exact and never expire.

mod trend;

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

pub use self::trend::{CELLS, Trend};
use crate::account::aggregate::{Aggregate, Growth, ProcStats};
use crate::ordered::Map;

/// Number of the latest ticks that are kept one by one.
const FINE: usize = 40;
/// Number of groups kept: slightly more than a minute if a tick is 250 ms, the shortest.
const GROUPS: usize = 54 + FINE / JOIN;
const JOIN: usize = 4;

/// Closed totals of the process at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The instant, in clock ticks.
    pub at: u64,
    /// Totals since the start of accounting, closed at `at`.
    pub aggregate: Aggregate,
    /// Busy time in ticks by thread number, the open poll included.
    pub busy: Map<u32, u64>,
}

/// Growth of the totals over one stretch of time.
#[derive(Clone, Debug, Default)]
struct Stretch {
    begin: u64,
    growth: Growth,
    busy: Vec<(u32, u64)>,
}

/// Totals since the start, and the growth of the last minute.
#[derive(Debug, Default)]
pub struct History {
    start: u64,
    last: Arc<Totals>,
    /// The latest ticks, oldest first. A stretch ends where the next one begins.
    fine: VecDeque<Stretch>,
    /// All ticks in groups of [`JOIN`]; the last ones may still be in `fine`, whole groups of it.
    groups: VecDeque<Stretch>,
}

/// Totals of one window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Growth within the window. Peaks cover the time since the start; what is called recent covers
    /// the window.
    pub aggregate: Aggregate,
    /// Busy time in ticks by thread number within the window.
    pub busy: Map<u32, u64>,
    /// Length, in clock ticks.
    pub length: u64,
    /// The window begins at the start of accounting.
    pub since_start: bool,
}

impl History {
    /// Creates an empty history that begins at `start`, in clock ticks.
    #[must_use]
    pub fn new(start: u64) -> Self {
        Self {
            start,
            last: Arc::new(Totals {
                at: start,
                ..Totals::default()
            }),
            ..Self::default()
        }
    }

    /// Resumes accounting after a pause, which is part of no window. `totals` are the present ones:
    /// they include events that were still under way at the pause.
    pub fn resume(&mut self, totals: Totals) {
        self.start += totals.at.saturating_sub(self.last.at);
        self.last = Arc::new(totals);
        self.groups.clear();
        self.fine.clear();
    }

    /// Adds the totals at the end of a tick. Returns those of the tick before.
    pub fn tick(&mut self, totals: impl Into<Arc<Totals>>) -> Arc<Totals> {
        let totals = totals.into();
        let stretch = self.stretch(&totals);
        self.fine.push_back(stretch);
        let before = core::mem::replace(&mut self.last, totals);
        if self.fine.len().is_multiple_of(JOIN) {
            self.groups.push_back(self.joined(self.fine.len() - JOIN));
        }
        if self.fine.len() >= FINE + JOIN {
            self.fine.drain(..JOIN);
        }
        if self.groups.len() > GROUPS {
            self.groups.pop_front();
        }
        before
    }

    /// The totals at the end of the last tick.
    #[must_use]
    pub const fn last(&self) -> &Arc<Totals> {
        &self.last
    }

    /// Growth within the last tick.
    #[must_use]
    pub fn last_growth(&self) -> Option<&Growth> {
        self.fine.back().map(|stretch| &stretch.growth)
    }

    fn stretch(&self, totals: &Totals) -> Stretch {
        let busy = totals.busy.iter().filter_map(|(&thread, &busy)| {
            let grown = busy.saturating_sub(self.last.busy.get(&thread).copied().unwrap_or(0));
            (grown > 0).then_some((thread, grown))
        });
        Stretch {
            begin: self.last.at,
            growth: totals.aggregate.grown_since(&self.last.aggregate),
            busy: busy.collect(),
        }
    }

    /// Returns the window of about `length` ticks that ends with `now`; with `None`, the time since
    /// the start.
    ///
    /// The window begins at the kept end of a tick nearest to the requested start.
    /// [`Window::length`] is its actual length.
    #[must_use]
    pub fn window(&self, now: &Totals, length: Option<u64>) -> Window {
        let begin = length.map(|length| self.nearest(now.at, length));
        let mut window = match begin {
            Some(begin) if begin > self.start => self.sum(now, begin),
            _ => Window {
                aggregate: since_start(&now.aggregate),
                busy: now.busy.clone(),
                length: now.at.saturating_sub(self.start),
                since_start: true,
            },
        };
        window.aggregate.procs.iter_mut().for_each(ProcStats::floor);
        window
    }

    /// The groups of ticks that are no longer kept one by one, and these ticks.
    fn stretches(&self) -> impl DoubleEndedIterator<Item = &Stretch> {
        let coarse = self.groups.len() - self.fine.len() / JOIN;
        self.groups.range(..coarse).chain(&self.fine)
    }

    /// The fewest stretches that make up the time since `begin`, the latest first.
    fn since(&self, begin: u64) -> impl Iterator<Item = &Stretch> {
        let (mut ticks, mut groups) = (self.fine.len(), self.groups.len());
        core::iter::from_fn(move || {
            let group = groups.checked_sub(1).and_then(|last| self.groups.get(last));
            let group = group.filter(|group| group.begin >= begin);
            if ticks.is_multiple_of(JOIN) && group.is_some() {
                ticks = ticks.saturating_sub(JOIN);
                groups -= 1;
                return group;
            }
            ticks = ticks.checked_sub(1)?;
            self.fine.get(ticks).filter(|tick| tick.begin >= begin)
        })
    }

    /// The latest ticks as one, from this one on.
    fn joined(&self, first: usize) -> Stretch {
        let mut joined = Stretch {
            begin: self.fine.get(first).map_or(0, |first| first.begin),
            ..Stretch::default()
        };
        let latest = self.fine.iter().skip(first);
        latest.for_each(|tick| joined.append(tick));
        joined
    }

    fn nearest(&self, now: u64, length: u64) -> u64 {
        let wanted = now.saturating_sub(length);
        // A window that begins now has nothing in it.
        let last = Some(self.last.at).filter(|last| *last < now);
        let begins = self.stretches().map(|stretch| stretch.begin).chain(last);
        begins
            .min_by_key(|begin| begin.abs_diff(wanted))
            .unwrap_or(self.start)
    }

    fn sum(&self, now: &Totals, begin: u64) -> Window {
        let mut sum = self.stretch(now);
        self.since(begin).for_each(|stretch| sum.append(stretch));
        let mut window = Window {
            length: now.at.saturating_sub(begin),
            ..Window::default()
        };
        window.aggregate.anomalies = now.aggregate.anomalies;
        for (id, proc) in sum.growth.procs {
            *window.aggregate.proc(id) = proc;
        }
        // The window still needs a row for each known proc, with present values.
        for (id, today) in now.aggregate.procs.iter().enumerate() {
            let proc = window.aggregate.proc(id as u32);
            proc.open_longest = today.open_longest;
            proc.future_bytes = today.future_bytes;
        }
        let before = self.stretches().rev().find(|stretch| stretch.begin < begin);
        for (id, proc) in before.iter().flat_map(|before| &before.growth.procs) {
            window.aggregate.proc(*id).borrow_recent(proc);
        }
        window.busy.extend(sum.busy);
        window.aggregate.metrics = sum.growth.metrics;
        window.aggregate.delays = sum.growth.delays;
        window
    }
}

fn since_start(aggregate: &Aggregate) -> Aggregate {
    let mut all = aggregate.copied();
    all.procs.iter_mut().for_each(ProcStats::recall_all);
    all
}

impl Stretch {
    fn append(&mut self, other: &Self) {
        self.growth.append(&other.growth);
        for (thread, busy) in &other.busy {
            match self.busy.iter_mut().find(|(seen, _)| seen == thread) {
                Some((_, own)) => *own += busy,
                None => self.busy.push((*thread, *busy)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{History, Totals};
    use crate::account::counters::Sum;

    fn totals(at: u64, running: u64) -> Totals {
        let mut totals = Totals {
            at,
            ..Totals::default()
        };
        totals.aggregate.proc(1).add(Sum::Running, running);
        totals.busy.insert(0, running);
        totals
    }

    /// Ticks every 250, each adding 10 to proc 1, up to `ticks`; then a reading 100 later.
    fn check(ticks: u64, length: Option<u64>, expected: (u64, u64, bool)) {
        let mut history = History::new(1000);
        for tick in 1..=ticks {
            history.tick(totals(1000 + tick * 250, tick * 10));
        }
        let window = history.window(&totals(1000 + ticks * 250 + 100, ticks * 10 + 4), length);
        let running = window.aggregate.procs[1].sum(Sum::Running);
        assert_eq!(
            (window.length, running, window.since_start),
            expected,
            "{ticks} ticks, window {length:?}"
        );
        assert_eq!(window.busy[&0], running);
    }

    #[test]
    fn a_window_is_a_sum_of_whole_ticks() {
        check(0, Some(1000), (100, 4, true));
        check(3, Some(10_000), (850, 34, true));
        check(20, None, (5100, 204, true));
        check(20, Some(1000), (1100, 44, false));
        check(20, Some(900), (850, 34, false));
        check(200, Some(10_000), (10_100, 404, false));
        check(1000, Some(60_000), (60_100, 2404, false));
        check(1000, None, (250_100, 10_004, true));
    }

    /// Whole groups of ticks, single ones, and both.
    #[test]
    fn every_window_is_the_sum_of_its_ticks() {
        for ticks in (1..60u64).chain(237..244) {
            for begin in 0..ticks {
                let length = ticks - begin;
                // Older ticks are kept in groups alone.
                if length < 40 || begin.is_multiple_of(4) {
                    let expected = (length * 250 + 100, length * 10 + 4, begin == 0);
                    check(ticks, Some(length * 250 + 100), expected);
                }
            }
        }
    }

    #[test]
    fn a_poll_that_ended_before_it_was_read_as_open_adds_nothing() {
        let mut history = History::new(0);
        history.tick(totals(250, 10));
        let window = history.window(&totals(300, 8), Some(50));
        assert_eq!((window.length, window.since_start), (50, false));
        assert_eq!(window.aggregate.procs[1].sum(Sum::Running), 0);
    }

    #[test]
    fn the_past_is_bounded() {
        let mut history = History::new(0);
        for tick in 1..=10_000 {
            history.tick(totals(tick * 250, tick));
        }
        assert!(history.fine.len() < super::FINE + super::JOIN);
        assert!(history.groups.len() <= super::GROUPS);
    }
}
