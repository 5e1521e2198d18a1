//! All threads' ledgers as one set of totals: nothing is lost when a thread ends, nothing counted twice.
//!
//! Ledgers are grouped by epoch, because a call may begin on one thread and end on another: only the
//! sum over an epoch is balanced. An epoch that was switched off is settled at that instant; once its
//! ledgers have no writer it is folded into the past.

use std::collections::BTreeMap;
use std::sync::Arc;

use turbowish_model::history::Totals;
use turbowish_model::read::OpenPoll;
use turbowish_model::tally::Tally;

use crate::thread::{self, ThreadLedger};

/// Every ledger that has not been folded yet.
#[derive(Default)]
pub(crate) struct Gather {
    past: Totals,
    /// The last epoch that was switched off, and when: a thread may enroll a ledger of it afterwards.
    last_ended: Option<(u32, u64)>,
    epochs: BTreeMap<u32, Epoch>,
}

#[derive(Default)]
struct Epoch {
    /// When it was switched off, or the last event of a thread that had not seen it yet.
    ended: Option<u64>,
    /// Raw sums of threads that are gone.
    departed: Totals,
    ledgers: Vec<Arc<ThreadLedger>>,
}

/// One living thread at one instant.
pub(crate) struct ThreadNow {
    pub(crate) index: u32,
    pub(crate) name: Arc<str>,
    pub(crate) epoch: u32,
    pub(crate) open: Vec<OpenPoll>,
}

impl Gather {
    /// The epoch ended at `t`.
    pub(crate) fn end(&mut self, epoch: u32, t: u64) {
        self.last_ended = Some((epoch, t));
        self.epochs.entry(epoch).or_default().ended = Some(t);
    }

    /// Settled totals as of `clock` (the time after the reading, so that nothing in it is later), and
    /// what every living thread does.
    pub(crate) fn read(&mut self, clock: impl Fn() -> u64) -> (Totals, Vec<ThreadNow>) {
        let now = clock();
        self.fold(now);
        let mut totals = self.past.clone();
        let mut threads = Vec::new();
        for (&number, epoch) in &self.epochs {
            epoch.add_to(&mut totals, now, &clock, number, &mut threads);
        }
        totals.at = clock();
        threads.sort_by_key(|thread| (thread.index, thread.epoch));
        // A thread that has moved on to a later epoch shows that one.
        threads.reverse();
        threads.dedup_by_key(|thread| thread.index);
        threads.reverse();
        (totals, threads)
    }

    /// Takes in new ledgers, and folds those that nobody writes any more.
    pub(crate) fn fold(&mut self, now: u64) {
        for ledger in thread::take_enrolled() {
            let number = ledger.ledger.epoch();
            let epoch = self.epochs.entry(number).or_default();
            if let Some((_, t)) = self.last_ended.filter(|&(last, _)| number <= last) {
                epoch.ended.get_or_insert(t);
            }
            epoch.ledgers.push(ledger);
        }
        for epoch in self.epochs.values_mut() {
            let is_final = epoch
                .ledgers
                .iter_mut()
                .all(|own| Arc::get_mut(own).is_some());
            epoch.outlast();
            epoch.fold(epoch.ended.unwrap_or(now), is_final);
        }
        let over = |epoch: &Epoch| epoch.ended.is_some() && epoch.ledgers.is_empty();
        let done: Vec<u32> = self
            .epochs
            .iter()
            .filter(|(_, epoch)| over(epoch))
            .map(|(&n, _)| n)
            .collect();
        for number in done {
            if let Some(epoch) = self.epochs.remove(&number) {
                epoch.add_to(&mut self.past, now, &|| now, number, &mut Vec::new());
                self.past.tally.forget_recent();
            }
        }
    }

    /// Begins the next tick of all threads.
    #[cfg(any(test, feature = "server"))]
    pub(crate) fn next_tick(&mut self) {
        for epoch in self.epochs.values_mut() {
            epoch.departed.tally.forget_recent();
        }
        for ledger in self.epochs.values().flat_map(|epoch| &epoch.ledgers) {
            ledger.ledger.next_tick();
        }
    }

    /// How many ledgers are not folded.
    #[cfg(test)]
    pub(crate) fn ledgers(&self) -> usize {
        self.epochs.values().map(|epoch| epoch.ledgers.len()).sum()
    }
}

impl Epoch {
    /// A thread that was in the middle of an event when accounting was switched off ends it later: the
    /// epoch ends no earlier, or times would be negative.
    fn outlast(&mut self) {
        if let Some(ended) = &mut self.ended {
            let latest = self.ledgers.iter().map(|thread| thread.ledger.latest());
            *ended = latest.fold(*ended, u64::max);
        }
    }

    /// `is_final`: nobody writes any of the ledgers. Polls that are open when accounting is switched off end with the
    /// epoch, so a ledger that has some waits until it is known when that was.
    fn fold(&mut self, now: u64, is_final: bool) {
        let departed = &mut self.departed;
        self.ledgers.retain_mut(|ledger| {
            let Some(gone) = Arc::get_mut(ledger) else {
                return true;
            };
            if gone.ledger.depth() > 0 && !is_final {
                return true;
            }
            let reading = gone.ledger.collect(now, &mut departed.tally, &mut relax);
            *departed.busy.entry(DEPARTED).or_default() += reading.busy;
            false
        });
    }

    fn add_to(
        &self,
        totals: &mut Totals,
        now: u64,
        clock: &dyn Fn() -> u64,
        number: u32,
        threads: &mut Vec<ThreadNow>,
    ) {
        let until = self.ended.unwrap_or(now);
        let mut tally: Tally = self.departed.tally.clone();
        let mut busy = self.departed.busy.clone();
        for ledger in &self.ledgers {
            let reading = ledger.ledger.collect(until, &mut tally, &mut relax);
            *busy.entry(ledger.index).or_default() += reading.busy;
            let (index, name) = (ledger.index, ledger.name.clone());
            threads.push(ThreadNow {
                index,
                name,
                epoch: number,
                open: reading.open,
            });
        }
        tally.settle(self.ended.unwrap_or_else(clock));
        if self.ended.is_some() {
            tally.abandon();
        }
        totals.tally.merge(&tally);
        for (thread, busy) in busy {
            *totals.busy.entry(thread).or_default() += busy;
        }
    }
}

/// Stands for all threads that are gone.
const DEPARTED: u32 = u32::MAX;

fn relax() {
    std::thread::yield_now();
}
