//! Totals over the ledgers of all threads: nothing is lost when a thread ends, and nothing is
//! counted twice.
//!
//! Ledgers are grouped by epoch, because a call may begin on one thread and end on another: only
//! the sum over an epoch is balanced. Open polls and live calls count up to one instant, after the
//! last ledger was read, or up to the end of the epoch if it was disarmed. Ledgers without a writer
//! are folded into sums, and so are epochs without ledgers.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use turbowish_model::account::aggregate::Aggregate;
use turbowish_model::account::counters::Sum;
use turbowish_model::account::slow::SlowLimit;
use turbowish_model::account::task::TaskMeta;
use turbowish_model::collect::history::Totals;
use turbowish_model::collect::read::{OpenPollReading, ReadRoom, ThreadReading};

use crate::hot::origin::TaskOrigin;
use crate::hot::thread::{self, ThreadLedger};
use turbowish_model::ordered::Map;
use turbowish_model::sorting;

/// All ledgers that have not been folded yet.
#[derive(Default)]
pub(crate) struct Collector {
    past: Totals,
    epochs: Map<u32, Epoch>,
    room: Room,
}

/// Memory for the next reading, so that a tick allocates little.
#[derive(Default)]
struct Room {
    /// It is empty.
    aggregate: Aggregate,
    ledger: ReadRoom,
}

#[derive(Default)]
struct Epoch {
    /// When it was disarmed. A thread in the middle of an event ends that event later, and the
    /// epoch with it.
    ended: Option<u64>,
    departed: Departed,
    ledgers: Vec<Arc<ThreadLedger>>,
}

/// Sums of threads that have ended, or have moved on to another epoch.
#[derive(Default)]
struct Departed {
    /// Sums in ticks.
    aggregate: Aggregate,
    busy: u64,
    /// Time of their last event.
    latest: u64,
    /// Polls open when the epoch was disarmed, charged once the end of the epoch is known.
    open: Vec<ThreadReading>,
}

/// A live thread at one instant.
pub(crate) struct ThreadNow {
    pub(crate) index: u32,
    pub(crate) name: Arc<str>,
    /// The operating system's thread ID.
    pub(crate) os_id: Option<u64>,
    pub(crate) epoch: u32,
    pub(crate) open: Vec<OpenPollReading>,
    /// The task whose first poll the thread runs.
    pub(crate) first_poll: Option<TaskMeta>,
    /// Origin of that task, if it has one.
    pub(crate) origin: Option<Arc<TaskOrigin>>,
    /// Whether the thread has polled a task.
    pub(crate) polls: bool,
    /// Time of its last event, in ticks.
    pub(crate) latest: u64,
    pub(crate) ledger: Arc<ThreadLedger>,
}

impl Collector {
    /// Records that the epoch was disarmed at `t`.
    pub(crate) fn end(&mut self, epoch: u32, t: u64) {
        self.epochs.entry(epoch).or_default().ended = Some(t);
    }

    /// Uses the memory of totals for the next ones, unless somebody else still needs them.
    pub(crate) fn reuse(&mut self, mut totals: Arc<Totals>) {
        // Swapped and not moved: less code that drops what is left.
        if let Some(totals) = Arc::get_mut(&mut totals) {
            mem::swap(&mut self.room.aggregate, &mut totals.aggregate);
            self.room.aggregate.clear();
        }
    }

    /// Balanced totals as of `clock`, which is read after all threads, and the state of every live
    /// thread.
    pub(crate) fn read(&mut self, clock: impl Fn() -> u64) -> (Totals, Vec<ThreadNow>) {
        self.read_at(&clock)
    }

    fn read_at(&mut self, clock: &dyn Fn() -> u64) -> (Totals, Vec<ThreadNow>) {
        self.fold(clock);
        let mut totals = Totals {
            at: self.past.at,
            aggregate: self.past.aggregate.copied(),
            busy: self.past.busy.clone(),
        };
        let (mut threads, mut at) = (Vec::new(), None);
        for (&number, epoch) in &self.epochs {
            let until = epoch.add_to(&mut totals, clock, number, (&mut threads, &mut self.room));
            at = at.or_else(|| epoch.ended.is_none().then_some(until));
        }
        totals.at = at.unwrap_or_else(clock);
        (totals, in_last_epochs(threads))
    }

    /// The state of every live thread, without its counters.
    pub(crate) fn threads(&mut self, clock: impl Fn() -> u64) -> Vec<ThreadNow> {
        self.fold(&clock);
        let mut threads = Vec::new();
        for (&number, epoch) in &self.epochs {
            let ledgers = epoch.ledgers.iter();
            threads.extend(ledgers.map(|ledger| {
                let ThreadReading { open, latest, .. } = ledger.ledger.glance(&mut relax);
                ThreadNow::of(ledger, number, open, latest)
            }));
        }
        in_last_epochs(threads)
    }

    fn take_in(&mut self) {
        for ledger in thread::take_enrolled() {
            let number = ledger.ledger.epoch();
            self.epochs.entry(number).or_default().ledgers.push(ledger);
        }
    }

    /// Polls begun since the start, by proc. Nothing else, so that it can be called often.
    pub(crate) fn polls(&mut self) -> Vec<u64> {
        self.take_in();
        let mut polls = Vec::new();
        let mut add = |proc: u32, more: u64| {
            let at = proc as usize;
            if polls.len() <= at {
                polls.resize(at + 1, 0);
            }
            polls[at] += more;
        };
        let departed = self.epochs.values().map(|epoch| &epoch.departed.aggregate);
        for aggregate in departed.chain([&self.past.aggregate]) {
            for (proc, known) in aggregate.procs.iter().enumerate() {
                add(proc as u32, known.sum(Sum::Polls));
            }
        }
        for ledger in self.epochs.values().flat_map(|epoch| &epoch.ledgers) {
            ledger.ledger.polls(&mut add);
        }
        polls
    }

    /// Adds new ledgers, and folds those without a writer.
    pub(crate) fn fold(&mut self, clock: &dyn Fn() -> u64) {
        self.take_in();
        for epoch in self.epochs.values_mut() {
            epoch.fold(clock, &mut self.room.ledger);
        }
        // No thread enrolls in an ended epoch, so nothing can follow.
        let over = |epoch: &Epoch| epoch.ended.is_some() && epoch.ledgers.is_empty();
        let done: Vec<u32> = self
            .epochs
            .iter()
            .filter(|(_, epoch)| over(epoch))
            .map(|(&n, _)| n)
            .collect();
        for number in done {
            if let Some(epoch) = self.epochs.remove(&number) {
                epoch.add_to(
                    &mut self.past,
                    clock,
                    number,
                    (&mut Vec::new(), &mut self.room),
                );
                self.past.aggregate.forget_recent();
            }
        }
    }

    /// Makes known to all threads from which age on calls are followed.
    pub(crate) fn follow(&self, limits: &[SlowLimit]) {
        thread::paths().renew_slow(limits);
        for ledger in self.epochs.values().flat_map(|epoch| &epoch.ledgers) {
            ledger.ledger.renew_slow();
        }
    }

    /// Begins the next tick of all threads.
    pub(crate) fn next_tick(&mut self) {
        for epoch in self.epochs.values_mut() {
            epoch.departed.aggregate.forget_recent();
        }
        for ledger in self.epochs.values().flat_map(|epoch| &epoch.ledgers) {
            ledger.ledger.next_tick();
        }
    }

    /// Number of unfolded ledgers of threads with these names, and number of their epochs.
    #[cfg(test)]
    pub(crate) fn kept(&self, names: &[&str]) -> [usize; 2] {
        let of = |epoch: &Epoch| {
            let ledgers = epoch.ledgers.iter();
            ledgers
                .filter(|ledger| names.contains(&&*ledger.name))
                .count()
        };
        let counts = self.epochs.values().map(of);
        let counts: Vec<usize> = counts.filter(|&count| count > 0).collect();
        [counts.iter().sum(), counts.len()]
    }
}

impl Epoch {
    fn fold(&mut self, clock: &dyn Fn() -> u64, room: &mut ReadRoom) {
        let (departed, ended) = (&mut self.departed, self.ended);
        self.ledgers.retain_mut(|ledger| {
            let Some(gone) = Arc::get_mut(ledger) else {
                return true;
            };
            let mut reading = gone
                .ledger
                .read((&mut departed.aggregate, room), &mut relax);
            gone.metrics
                .read(&mut departed.aggregate.metrics, &mut relax);
            departed.latest = departed.latest.max(reading.latest);
            if ended.is_some() && !reading.open.is_empty() {
                departed.open.push(reading);
                return false;
            }
            // Polls that a thread left open when it ended are closed here.
            reading.charge(clock().max(reading.latest), &mut departed.aggregate);
            departed.busy += reading.busy;
            false
        });
    }

    /// Returns the instant up to which all open polls and live calls were counted: no event is
    /// later.
    fn add_to(
        &self,
        totals: &mut Totals,
        clock: &dyn Fn() -> u64,
        number: u32,
        (threads, room): (&mut Vec<ThreadNow>, &mut Room),
    ) -> u64 {
        let mut aggregate = mem::take(&mut room.aggregate);
        aggregate.merge(&self.departed.aggregate);
        let gone = self.departed.open.iter().cloned();
        let mut readings: Vec<(u32, ThreadReading)> = gone.map(|open| (DEPARTED, open)).collect();
        for ledger in &self.ledgers {
            let into = (&mut aggregate, &mut room.ledger);
            let reading = ledger.ledger.read(into, &mut relax);
            ledger.metrics.read(&mut aggregate.metrics, &mut relax);
            let (open, latest) = (reading.open.clone(), reading.latest);
            threads.push(ThreadNow::of(ledger, number, open, latest));
            readings.push((ledger.index, reading));
        }
        let latest = readings.iter().map(|(_, reading)| reading.latest);
        let latest = latest.fold(self.departed.latest, u64::max);
        let until = self.ended.unwrap_or_else(clock).max(latest);
        *totals.busy.entry(DEPARTED).or_default() += self.departed.busy;
        for (thread, mut reading) in readings {
            reading.charge(until, &mut aggregate);
            *totals.busy.entry(thread).or_default() += reading.busy;
        }
        aggregate.close_open_at(until);
        aggregate.reconcile();
        if self.ended.is_some() {
            aggregate.abandon();
        }
        if totals.aggregate.is_empty() {
            totals.aggregate = aggregate;
        } else {
            totals.aggregate.merge(&aggregate);
        }
        until
    }
}

impl ThreadNow {
    fn of(ledger: &Arc<ThreadLedger>, epoch: u32, open: Vec<OpenPollReading>, latest: u64) -> Self {
        Self {
            index: ledger.index,
            name: ledger.name.clone(),
            os_id: ledger.os_id,
            epoch,
            open,
            first_poll: ledger.first_poll.read(&mut relax),
            origin: ledger.first_poll_origin(),
            polls: ledger.polls.load(Relaxed),
            latest,
            ledger: Arc::clone(ledger),
        }
    }
}

/// By number, each thread once: one that has moved on to a later epoch is shown in that one.
fn in_last_epochs(mut threads: Vec<ThreadNow>) -> Vec<ThreadNow> {
    sorting::by_key(&mut threads, |thread| (thread.index, thread.epoch));
    threads.reverse();
    threads.dedup_by_key(|thread| thread.index);
    threads.reverse();
    threads
}

/// Index that stands for all ended threads.
const DEPARTED: u32 = u32::MAX;

fn relax() {
    std::thread::yield_now();
}
