//! Replay: drives ledgers with recorded events. It is the same code as in the live process, with
//! given times.
//!
//! A recording may have gaps and be out of order; the rules R1, R2, R3 and R5 of the occupancy
//! definitions state the result. In addition, a call never overlaps itself, so:
//! - a poll of a call that has ended, or is being polled, does not begin (its end is an orphan, R2,
//!   unless a poll of the call is open on that thread: then it ends that one);
//! - a drop during a poll on the same thread tears that poll down; on another thread it is ignored;
//! - a creation of a live call is ignored; an id is free again when its call has ended.
//!
//! At the end of an epoch, and at both ends of a gap, everything that was open is over, as when
//! accounting is switched off: its time counts up to there, it has no outcome, and what is seen of
//! it later is that of a call whose creation was not seen.

use std::collections::BTreeMap;
use std::sync::Arc;

use turbowish_model::account::aggregate::Aggregate;
use turbowish_model::account::call::{Call, PollEnd, ProcKey};
use turbowish_model::account::counters::PROC_LIMIT;
use turbowish_model::account::ledger::{Charge, Ledger, Start};
use turbowish_model::account::paths::Paths;
use turbowish_model::collect::call_events::CallItem;
use turbowish_model::collect::read::OpenPollReading;
use turbowish_model::event::{CallEvent, Event};

/// The only epoch of a replay.
const EPOCH: u32 = 1;
/// A proc as events name it; `None` is that of calls whose events never name it.
type ProcId = Option<u32>;

type Calls = BTreeMap<u64, ReplayedCall>;

/// State of a replayed call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallOutcome {
    /// Not ended.
    #[default]
    Live,
    /// Returned.
    Ready,
    /// Dropped before it returned.
    Cancelled,
    /// Panicked.
    Panicked,
}

/// One replayed call, with the sums that the live process keeps only per proc. Times are in the
/// unit of the recording.
#[derive(Clone, Debug)]
pub struct ReplayedCall {
    call: Call,
    /// Proc, as an index of [`Outcome::procs`].
    pub proc: u32,
    /// State of the call.
    pub outcome: CallOutcome,
    /// Time of the creation.
    pub created: u64,
    /// Start of the first poll, if there was one.
    pub first: Option<u64>,
    /// Time of the end, if the call has ended.
    pub ended: Option<u64>,
    /// Number of polls started.
    pub polls: u64,
    /// Sums over the call's polls; open ones count up to the end of the replay.
    pub charge: Charge,
    /// Time between polls, before the first wake.
    pub waiting: u64,
    /// Time between polls, from the first wake on.
    pub ready: u64,
    /// Thread of the poll in progress.
    polled_on: Option<u64>,
    /// End of the last poll, and the first wake since that poll began.
    suspended: u64,
    woken: Option<u64>,
}

/// A replay in progress.
#[derive(Default)]
pub struct Replay {
    procs: Vec<ProcId>,
    calls: Calls,
    threads: BTreeMap<u64, Ledger>,
    paths: Arc<Paths>,
    first: Option<u64>,
    now: u64,
    /// What is over: see [`Replay::cut`].
    past: Sums,
}

/// Totals of all threads, and the busy time of each.
#[derive(Debug, Default)]
struct Sums {
    aggregate: Aggregate,
    busy: BTreeMap<u64, u64>,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.aggregate.merge(&other.aggregate);
        for (thread, busy) in &other.busy {
            *self.busy.entry(*thread).or_default() += busy;
        }
    }
}

/// Result of a replay.
#[derive(Debug)]
pub struct Outcome {
    /// Closed totals; its proc ids are indices of `procs`.
    pub aggregate: Aggregate,
    /// Procs as events name them, in the order in which they came; `None` is that of calls whose
    /// events never name it.
    pub procs: Vec<Option<u32>>,
    /// Calls, by id: those since the last end of an epoch or of a gap.
    pub calls: BTreeMap<u64, ReplayedCall>,
    /// Busy time, by thread.
    pub busy: BTreeMap<u64, u64>,
    /// Instant of the totals.
    pub now: u64,
    /// Time from the first event to `now`.
    pub window: u64,
}

impl Replay {
    /// The index of a proc, which is its id in the ledgers.
    fn proc(&mut self, id: ProcId) -> u32 {
        let known = self.procs.iter().position(|proc| *proc == id);
        known.unwrap_or_else(|| {
            // Beyond the capacity of a ledger, the last proc stands for all further ones.
            if self.procs.len() < PROC_LIMIT as usize {
                self.procs.push(id);
            }
            self.procs.len() - 1
        }) as u32
    }

    /// Applies one event. Only those of calls count.
    pub fn event(&mut self, event: &Event) {
        let Some((id, kind)) = event.call() else {
            return;
        };
        let thread = event.thread;
        // The proc is needed only for an unknown call.
        let known = self.calls.get(&id);
        let proc = match kind {
            CallEvent::Create { proc } if !known.is_some_and(ReplayedCall::is_live) => {
                Some(self.proc(Some(proc)))
            }
            CallEvent::PollStart { proc, .. } if known.is_none() => Some(self.proc(proc)),
            CallEvent::Await { proc, .. } => Some(self.proc(Some(proc))),
            _ => None,
        };
        let (threads, paths) = (&mut self.threads, &self.paths);
        let ledger = threads.entry(thread);
        let ledger = &*ledger.or_insert_with(|| Ledger::new(EPOCH, paths));
        let t = ledger.clamp(event.t);
        self.first = Some(self.first.map_or(t, |first| first.min(t)));
        self.now = self.now.max(t);
        let moment = Moment { ledger, thread, t };
        let calls = &mut self.calls;
        match kind {
            CallEvent::Create { .. } => moment.create(calls, id, proc),
            CallEvent::PollStart { root, .. } => moment.poll_start(calls, id, proc, root),
            CallEvent::PollEnd(end) => moment.poll_end(calls, id, end),
            CallEvent::Drop => moment.drop_call(calls, id),
            CallEvent::Wake => {
                if let Some(call) = calls.get_mut(&id) {
                    call.woken.get_or_insert(t);
                }
            }
            CallEvent::Await { site, direct, .. } => {
                ledger.arrive(proc.unwrap_or_default(), site, direct);
            }
            CallEvent::Unaccounted => ledger.unseen(),
        }
    }

    /// Applies what a recording has next.
    pub fn item(&mut self, item: &CallItem) {
        match item {
            CallItem::Event { event, .. } => self.event(event),
            cut => {
                if let Some(t) = cut.cut() {
                    self.cut(t);
                }
            }
        }
    }

    /// Ends all that is open at `t`.
    fn cut(&mut self, t: u64) {
        self.now = self.now.max(t);
        let mut sums = self.sums(self.now);
        sums.aggregate.abandon();
        self.past.add(&sums);
        self.threads.clear();
        self.calls.clear();
    }

    /// The sums since the last cut, as of `now`.
    fn sums(&mut self, now: u64) -> Sums {
        let mut sums = Sums::default();
        for (&thread, ledger) in &self.threads {
            let reading = ledger.collect(now, &mut sums.aggregate, &mut || ());
            sums.busy.insert(thread, reading.busy);
            close_open(&ledger.open_polls(), now, &mut self.calls);
        }
        for call in self.calls.values_mut().filter(|call| call.is_live()) {
            call.resume(now);
        }
        sums.aggregate.close_open_at(now);
        sums
    }

    /// Ends the replay. Returns the totals as of `now`, or of the last event.
    #[must_use]
    pub fn finish(mut self, now: Option<u64>) -> Outcome {
        let now = now.unwrap_or(self.now);
        let mut sums = self.sums(now);
        if self.past.aggregate != Aggregate::default() {
            sums.add(&self.past);
        }
        let window = now.saturating_sub(self.first.unwrap_or(now));
        Outcome {
            aggregate: sums.aggregate,
            procs: self.procs,
            calls: self.calls,
            busy: sums.busy,
            now,
            window,
        }
    }
}

/// Thread and time of an event.
struct Moment<'a> {
    ledger: &'a Ledger,
    thread: u64,
    t: u64,
}

impl Moment<'_> {
    fn create(&self, calls: &mut Calls, id: u64, proc: Option<u32>) {
        // Without a proc the call is known already.
        let Some(proc) = proc else { return };
        let mut call = ReplayedCall::new(proc, self.t);
        call.call = Call::new(self.ledger.create(call.key(), self.t));
        calls.insert(id, call);
    }

    fn poll_start(&self, calls: &mut Calls, id: u64, proc: Option<u32>, root: bool) {
        let new = || ReplayedCall::new(proc.unwrap_or_default(), self.t);
        let call = calls.entry(id).or_insert_with(new);
        if !call.is_live() || call.polled_on.is_some() {
            return;
        }
        let start = Start {
            root,
            quiet: true,
            key: id,
            ..Start::default()
        };
        let key = call.key();
        let opened = self.ledger.poll_start(&mut call.call, key, self.t, start);
        if opened.is_some() {
            call.resume(self.t);
            call.woken = None;
            call.polls += 1;
            call.first.get_or_insert(self.t);
            call.polled_on = Some(self.thread);
        }
    }

    fn poll_end(&self, calls: &mut Calls, id: u64, end: PollEnd) {
        let mut stranger = ReplayedCall::new(0, self.t);
        let mut own = calls.remove(&id);
        let call = own.as_mut().unwrap_or(&mut stranger);
        let forced = |key: u64, charge: Charge| {
            if let Some(other) = calls.get_mut(&key) {
                other.call.close(&charge);
                other.closed(&charge, self.t);
            }
        };
        let closed = self
            .ledger
            .poll_end_of(&mut call.call, id, self.t, end, forced);
        // Each poll has its own events, so none is straight.
        call.call.open_next();
        if let Some(charge) = closed {
            call.closed(&charge, self.t);
            match end {
                PollEnd::Pending => {}
                PollEnd::Ready | PollEnd::Err => call.over(self.t, CallOutcome::Ready),
                PollEnd::Panic => call.over(self.t, CallOutcome::Panicked),
                PollEnd::Torn => call.over(self.t, CallOutcome::Cancelled),
            }
        }
        if let Some(own) = own {
            calls.insert(id, own);
        }
    }

    fn drop_call(&self, calls: &mut Calls, id: u64) {
        let Some(call) = calls.get_mut(&id).filter(|call| call.is_live()) else {
            return;
        };
        match call.polled_on {
            None => {
                self.ledger.drop_call(&mut call.call, call.proc, self.t);
                call.resume(self.t);
                call.over(self.t, CallOutcome::Cancelled);
            }
            Some(thread) if thread == self.thread => self.poll_end(calls, id, PollEnd::Torn),
            Some(_) => {}
        }
    }
}

fn close_open(open: &[OpenPollReading], now: u64, calls: &mut Calls) {
    let mut nested = 0;
    let mut foreign = 0;
    for poll in open.iter().rev() {
        let charge = poll.charge(now, nested, foreign);
        if let Some(replayed) = calls.get_mut(&poll.key) {
            replayed.charge.add(&charge);
        }
        nested = charge.hold;
        foreign = if poll.root {
            charge.hold
        } else {
            charge.hold - charge.inclusive
        };
    }
}

impl ReplayedCall {
    fn new(proc: u32, t: u64) -> Self {
        Self {
            call: Call::default(),
            proc,
            outcome: CallOutcome::Live,
            created: t,
            first: None,
            ended: None,
            polls: 0,
            charge: Charge::default(),
            waiting: 0,
            ready: 0,
            polled_on: None,
            suspended: t,
            woken: None,
        }
    }

    const fn key(&self) -> ProcKey {
        ProcKey {
            id: self.proc,
            future_bytes: 0,
        }
    }

    fn is_live(&self) -> bool {
        self.outcome == CallOutcome::Live
    }

    /// Ends the time between polls at `t`; before the first poll there is none.
    fn resume(&mut self, t: u64) {
        if self.polls == 0 || self.polled_on.is_some() {
            return;
        }
        // Clocks of different threads may differ: the gap is never negative.
        let over = t.max(self.suspended);
        let woken = self.woken.unwrap_or(over).clamp(self.suspended, over);
        self.waiting = self.waiting.wrapping_add(woken - self.suspended);
        self.ready = self.ready.wrapping_add(over - woken);
    }

    /// Records that a poll of the call was closed at `t`.
    fn closed(&mut self, charge: &Charge, t: u64) {
        self.charge.add(charge);
        self.polled_on = None;
        self.suspended = t;
    }

    fn over(&mut self, t: u64, outcome: CallOutcome) {
        self.outcome = outcome;
        self.ended = Some(t);
    }
}
