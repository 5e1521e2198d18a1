//! Reader of a ledger whose thread may be writing. Open polls count as if they ended now.

use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;

use crate::account::aggregate::{Aggregate, ProcStats};
use crate::account::call::{PENDING, SITE};
use crate::account::counters::{ProcCounters, Sum};
use crate::account::ledger::{Charge, Frame, Ledger, OUTER, ROOT};

/// A poll in progress, as a reader sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenPollReading {
    /// The key passed at its start.
    pub key: u64,
    /// Id of the polled proc.
    pub proc: u32,
    /// Await point last reached plus one; 0 if unknown.
    pub site: u16,
    /// End of the previous poll, if this poll ended the wait at `site`.
    waited_since: Option<u64>,
    /// The poll is the root of a task.
    pub root: bool,
    /// Start of the poll, in ticks.
    pub start: u64,
    outer: bool,
    creator: u32,
    nested: u64,
    foreign: u64,
}

impl OpenPollReading {
    fn read(frame: &Frame) -> Self {
        let place = frame.place.load(Relaxed);
        Self {
            key: frame.key.load(Relaxed),
            proc: frame.proc.load(Relaxed),
            site: (place & SITE) as u16,
            waited_since: (place & PENDING != 0).then(|| frame.suspended.load(Relaxed)),
            root: place & ROOT != 0,
            start: frame.start.load(Relaxed),
            outer: place & OUTER != 0,
            creator: frame.creator.load(Relaxed),
            nested: frame.nested.load(Relaxed),
            foreign: frame.foreign.load(Relaxed),
        }
    }

    /// Computes the charge as if this poll and the one nested in it ended at `now`; `nested` and
    /// `foreign` are the nested poll's contributions.
    #[must_use]
    pub fn charge(&self, now: u64, nested: u64, foreign: u64) -> Charge {
        let hold = now.saturating_sub(self.start);
        Charge {
            hold,
            running: hold.saturating_sub(self.nested + nested),
            inclusive: hold.saturating_sub(self.foreign + foreign),
        }
    }
}

/// One thread at one instant. Its counters have been added to a raw aggregate; open polls are here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadReading {
    /// Polls in progress, outermost first.
    pub open: Vec<OpenPollReading>,
    /// Time in polls, in ticks; includes open polls after [`ThreadReading::charge`].
    pub busy: u64,
    /// Time of the last event, in ticks: nothing in the reading is later.
    pub latest: u64,
    /// If the counters could not be read as a whole: the open polls at the time each proc's
    /// counters were read, for procs with an open poll.
    apart: Option<Vec<(u32, Vec<OpenPollReading>)>>,
}

impl ThreadReading {
    /// Charges the open polls up to `now`, without changing the ledger. With `now` before `latest`,
    /// parts may have to be clamped to zero.
    pub fn charge(&mut self, now: u64, into: &mut Aggregate) {
        self.busy = self.busy.wrapping_add(match &self.apart {
            None => charge_open(&self.open, now, into, None).hold,
            Some(apart) => apart
                .iter()
                .map(|(proc, open)| charge_open(open, now, into, Some(*proc)).running)
                .fold(0, u64::wrapping_add),
        });
    }
}

/// Attempts to read a whole ledger before its counters are read proc by proc.
const WHOLE: u32 = if cfg!(all(test, loom)) { 1 } else { 4 };

impl Ledger {
    /// [`Ledger::read`] followed by [`ThreadReading::charge`], for reading a single thread or
    /// threads that are known to be idle.
    pub fn collect(
        &self,
        now: u64,
        into: &mut Aggregate,
        relax: &mut dyn FnMut(),
    ) -> ThreadReading {
        let mut reading = self.read(into, relax);
        reading.charge(now, into);
        reading
    }

    /// Adds this thread's counters to a raw aggregate and returns its open polls. The caller
    /// charges them for all threads up to the same instant, after the last thread has been read.
    ///
    /// May be called at any time, but by one reader at a time. If the thread has no event during
    /// the few microseconds of the call, the reading is the thread at one instant. Otherwise each
    /// proc's counters are consistent with its own open polls, and the thread's busy time is the
    /// sum over the procs. `relax` lets other threads run while a write is in progress.
    pub fn read(&self, into: &mut Aggregate, relax: &mut dyn FnMut()) -> ThreadReading {
        let mut rows = Vec::new();
        let whole = self.sequence.try_read(WHOLE, || self.read_whole(&mut rows));
        let reading = whole.unwrap_or_else(|| self.read_apart(&mut rows, relax));
        for (proc, stats) in &rows {
            into.proc(*proc).add_counters(stats);
        }
        for (proc, row) in self.rows.iter() {
            row.collect_details(into.proc(proc));
        }
        for (kind, count) in into.anomalies.iter_mut().enumerate() {
            *count += self.count(kind);
        }
        reading
    }

    /// Passes each proc id and its number of polls started to `each`; each number is read by
    /// itself.
    pub fn polls(&self, each: &mut dyn FnMut(u32, u64)) {
        for (proc, row) in self.rows.iter() {
            each(proc, row.polls());
        }
    }

    /// Returns the open polls of this thread.
    #[must_use]
    pub fn open_polls(&self) -> Vec<OpenPollReading> {
        self.sequence.read(&mut || (), || self.read_frames())
    }

    fn read_frames(&self) -> Vec<OpenPollReading> {
        (0..self.depth())
            .map_while(|depth| self.frames.get(depth as usize))
            .map(OpenPollReading::read)
            .collect()
    }

    fn read_whole(&self, rows: &mut Vec<(u32, ProcStats)>) -> ThreadReading {
        rows.clear();
        rows.extend(
            self.rows
                .iter()
                .map(|(proc, row)| (proc, self.read_row(row))),
        );
        ThreadReading {
            open: self.read_frames(),
            busy: self.busy(),
            latest: self.latest(),
            apart: None,
        }
    }

    fn read_apart(
        &self,
        rows: &mut Vec<(u32, ProcStats)>,
        relax: &mut dyn FnMut(),
    ) -> ThreadReading {
        rows.clear();
        let mut reading = ThreadReading::default();
        let mut apart = Vec::new();
        for (proc, row) in self.rows.iter() {
            let (stats, open, latest) = self.sequence.read(relax, || {
                let open = self.read_frames();
                (self.read_row(row), open, self.latest())
            });
            reading.busy = reading.busy.wrapping_add(stats.sum(Sum::Running));
            reading.latest = reading.latest.max(latest);
            if open.iter().any(|poll| poll.proc == proc) {
                apart.push((proc, open.clone()));
            }
            reading.open = open;
            rows.push((proc, stats));
        }
        reading.apart = Some(apart);
        reading
    }

    fn read_row(&self, row: &ProcCounters) -> ProcStats {
        let mut stats = ProcStats::default();
        row.collect(self.tick(), &mut stats);
        stats
    }
}

/// Charges open polls as if they ended at `now`, innermost first; with `only`, just those of that
/// proc. Returns the total `hold` and the `running` time that was charged.
fn charge_open(
    open: &[OpenPollReading],
    now: u64,
    into: &mut Aggregate,
    only: Option<u32>,
) -> Charge {
    let (mut nested, mut foreign, mut running) = (0, 0, 0_u64);
    for poll in open.iter().rev() {
        let charge = poll.charge(now, nested, foreign);
        nested = charge.hold;
        foreign = if poll.root {
            charge.hold
        } else {
            charge.hold - charge.inclusive
        };
        if only.is_some_and(|only| only != poll.proc) {
            continue;
        }
        running = running.wrapping_add(charge.running);
        let proc = into.proc(poll.proc);
        proc.add(Sum::Hold, charge.hold);
        proc.add(Sum::Running, charge.running);
        proc.add(Sum::OpenHold, charge.hold);
        proc.add(Sum::OpenRunning, charge.running);
        proc.add(Sum::Foreign, charge.hold - charge.inclusive);
        if poll.outer {
            proc.add(Sum::Inclusive, charge.inclusive);
        }
        proc.open_longest = proc.open_longest.max(charge.hold);
        if let Some(since) = poll.waited_since {
            proc.site(poll.site.into()).resume(since, poll.start);
        }
        if let Some(creator) = poll.creator.checked_sub(1) {
            let edge = proc.edges.entry(creator).or_default();
            edge.offspring = edge.offspring.wrapping_add(charge.inclusive);
        }
    }
    Charge {
        hold: nested,
        running,
        ..Charge::default()
    }
}
