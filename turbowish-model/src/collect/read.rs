//! Reading a ledger while its thread writes: open polls count as if they ended now.

use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;

use crate::account::aggregate::{Aggregate, ProcStats};
use crate::account::call::{PENDING, SITE};
use crate::account::counters::{ProcCounters, Sum};
use crate::account::ledger::{Charge, Frame, Ledger, OUTER, ROOT};

/// A poll in progress, as a reader sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenPollReading {
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

    /// What it comes to if it and the poll nested in it end at `now`; `nested` and `foreign` are what
    /// that one adds to it.
    pub(crate) fn charge(&self, now: u64, nested: u64, foreign: u64) -> Charge {
        let hold = now.saturating_sub(self.start);
        Charge {
            hold,
            running: hold.saturating_sub(self.nested + nested),
            inclusive: hold.saturating_sub(self.foreign + foreign),
        }
    }
}

/// One thread at one instant: its rows are in a raw tally, what is open on it is here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadReading {
    /// Polls in progress, outermost first.
    pub open: Vec<OpenPollReading>,
    /// Time in polls; the open ones are in it after [`ThreadReading::charge`].
    pub busy: u64,
    /// The time of the last event: nothing in the reading is later.
    pub latest: u64,
    /// If the rows could not be read in one piece: what was open when the row of a proc was read, if that proc was.
    apart: Option<Vec<(u32, Vec<OpenPollReading>)>>,
}

impl ThreadReading {
    /// Ends all that is open at `now`, on paper. Before `latest`, parts of it may have to be taken for nothing.
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

/// Readings of a whole ledger tried before its rows are read one by one.
const WHOLE: u32 = if cfg!(all(test, loom)) { 1 } else { 4 };

impl Ledger {
    /// [`Ledger::read`] and [`ThreadReading::charge`], for whoever reads one thread or knows that none moves.
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

    /// Adds this thread to a raw tally and says what is open on it; that is to be charged up to one instant for all
    /// threads, after the last of them has been read.
    ///
    /// May run at any moment, but by one reader at a time. If the thread makes no event for the few microseconds that
    /// it takes, the reading is the thread at one instant. Otherwise each row is, with what was open of it: whatever is
    /// true of a row by itself holds, and the thread's busy time is what its rows add up to. `relax` lets other
    /// threads run while this one waits for a writer in the middle of a write.
    pub fn read(&self, into: &mut Aggregate, relax: &mut dyn FnMut()) -> ThreadReading {
        let mut rows = Vec::new();
        let whole = self.sequence.try_read(WHOLE, || self.read_whole(&mut rows));
        let reading = whole.unwrap_or_else(|| self.read_apart(&mut rows, relax));
        for (proc, tally) in &rows {
            into.proc(*proc).add_counters(tally);
        }
        for (proc, row) in self.rows.iter() {
            row.collect_details(into.proc(proc));
        }
        for (kind, count) in into.anomalies.iter_mut().enumerate() {
            *count += self.count(kind);
        }
        reading
    }

    /// Gives the polls begun of each proc, each a single reading.
    pub fn polls(&self, each: &mut dyn FnMut(u32, u64)) {
        for (proc, row) in self.rows.iter() {
            each(proc, row.polls());
        }
    }

    /// What is open on this thread now.
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
            let (tally, open, latest) = self.sequence.read(relax, || {
                let open = self.read_frames();
                (self.read_row(row), open, self.latest())
            });
            reading.busy = reading.busy.wrapping_add(tally.sum(Sum::Running));
            reading.latest = reading.latest.max(latest);
            if open.iter().any(|poll| poll.proc == proc) {
                apart.push((proc, open.clone()));
            }
            reading.open = open;
            rows.push((proc, tally));
        }
        reading.apart = Some(apart);
        reading
    }

    fn read_row(&self, row: &ProcCounters) -> ProcStats {
        let mut tally = ProcStats::default();
        row.collect(self.tick(), &mut tally);
        tally
    }
}

/// Ends every open poll at `now`, innermost first, on paper, and charges those of `only` one proc, or all. Returns how long
/// they have lasted together, and the running time that was charged.
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
