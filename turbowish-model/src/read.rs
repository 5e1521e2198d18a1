//! Reading a ledger while its thread writes: open polls count as if they ended now.

use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;

use crate::call::{PENDING, SITE};
use crate::ledger::{Charge, Frame, Ledger, OUTER, ROOT};
use crate::row::{Row, Sum};
use crate::tally::{ProcTally, Tally};

/// A poll in progress, as a reader sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenPoll {
    /// The key given at its start.
    pub key: u64,
    /// Proc id.
    pub proc: u32,
    /// Await point last reached, plus one; 0 if unknown.
    pub site: u16,
    /// The end of the poll before it, if this one has ended a wait at that await point.
    waited_since: Option<u64>,
    /// It is the top of a task.
    pub root: bool,
    /// When it began.
    pub start: u64,
    outer: bool,
    creator: u32,
    nested: u64,
    foreign: u64,
}

impl OpenPoll {
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

    /// What it comes to if it and the poll nested in it end at `now`; `nested` and `foreign` are what
    /// that one adds to it.
    pub(crate) fn charge(&self, now: u64, nested: u64, foreign: u64) -> Charge {
        let hold = now.saturating_sub(self.start);
        Charge {
            key: self.key,
            hold,
            running: hold.saturating_sub(self.nested + nested),
            inclusive: hold.saturating_sub(self.foreign + foreign),
        }
    }
}

/// One thread at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadReading {
    /// Polls in progress, outermost first.
    pub open: Vec<OpenPoll>,
    /// Time in polls, the open one included.
    pub busy: u64,
}

impl Ledger {
    /// Adds this thread to a raw tally as of `now` and says what is open on it.
    ///
    /// May run at any moment, but by one reader at a time. Open polls count up to `now`; events that
    /// are written during the reading may be in it, so totals are to be settled at an instant after it.
    /// `relax` lets other threads run while this one waits for a writer in the middle of a write.
    pub fn collect(&self, now: u64, into: &mut Tally, relax: &mut dyn FnMut()) -> ThreadReading {
        let (mut reading, on_stack) = self.sequence.read(relax, || self.read_stack());
        for (proc, tally) in &on_stack {
            into.proc(*proc).add_counters(tally);
        }
        reading.busy += charge_open(&reading.open, now, into);
        for (proc, row) in self.rows.iter() {
            if !on_stack.iter().any(|&(seen, _)| seen == proc) {
                let tally = self.sequence.read(relax, || self.read_row(row));
                into.proc(proc).add_counters(&tally);
            }
            row.collect_details(into.proc(proc));
        }
        for (kind, count) in into.anomalies.iter_mut().enumerate() {
            *count += self.count(kind);
        }
        reading
    }

    /// What is open on this thread now.
    #[must_use]
    pub fn open_polls(&self) -> Vec<OpenPoll> {
        self.sequence.read(&mut || (), || self.read_frames())
    }

    fn read_frames(&self) -> Vec<OpenPoll> {
        (0..self.depth())
            .map_while(|depth| self.frames.get(depth as usize))
            .map(OpenPoll::read)
            .collect()
    }

    fn read_stack(&self) -> (ThreadReading, Vec<(u32, ProcTally)>) {
        let open = self.read_frames();
        let mut rows: Vec<(u32, ProcTally)> = Vec::new();
        for poll in &open {
            if rows.iter().all(|&(seen, _)| seen != poll.proc) {
                rows.push((poll.proc, self.read_row(self.rows.at(poll.proc))));
            }
        }
        (
            ThreadReading {
                open,
                busy: self.busy(),
            },
            rows,
        )
    }

    fn read_row(&self, row: &Row) -> ProcTally {
        let mut tally = ProcTally::default();
        row.collect(self.tick(), &mut tally);
        tally
    }
}

/// Ends every open poll at `now`, innermost first, on paper. Returns the thread's open busy time.
fn charge_open(open: &[OpenPoll], now: u64, into: &mut Tally) -> u64 {
    let (mut nested, mut foreign) = (0, 0);
    for poll in open.iter().rev() {
        let charge = poll.charge(now, nested, foreign);
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
        nested = charge.hold;
        foreign = if poll.root {
            charge.hold
        } else {
            charge.hold - charge.inclusive
        };
    }
    nested
}
