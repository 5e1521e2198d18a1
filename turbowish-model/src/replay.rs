//! Drives ledgers with recorded events: the same code as in the live process, with time given.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::call::{Call, PollEnd, ProcKey};
use crate::ledger::{Charge, Ledger, Start};
use crate::tally::Tally;

/// The only epoch of a replay.
const EPOCH: u32 = 1;

/// One event, of thread `thread` at time `t`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time in the unit of the recording.
    pub t: u64,
    /// Thread on which it happened.
    pub thread: u64,
    /// The call's id.
    pub id: u64,
    /// What happened.
    pub kind: Kind,
}

/// What happened to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It was constructed, of this proc.
    Create(String),
    /// A poll began; the proc is known if the recording repeats it.
    PollStart {
        /// Proc, where the recording says it.
        proc: Option<String>,
        /// Marked as the root of a task.
        root: bool,
    },
    /// A poll ended.
    PollEnd(PollEnd),
    /// It was dropped.
    Drop,
}

/// How a replayed call stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Not ended.
    #[default]
    Live,
    /// Returned.
    Ready,
    /// Dropped early.
    Cancelled,
    /// Panicked.
    Panicked,
}

/// One replayed call, with the sums that the live process keeps only per proc.
#[derive(Clone, Debug)]
pub struct Replayed {
    call: Call,
    /// Proc id.
    pub proc: u32,
    /// How it stands.
    pub standing: Standing,
    /// Creation, first poll, end.
    pub created: u64,
    /// First poll, if there was one.
    pub first: Option<u64>,
    /// End, if it has ended.
    pub ended: Option<u64>,
    /// Polls begun.
    pub polls: u64,
    /// Sums over its polls, open ones up to the end of the replay.
    pub charge: Charge,
}

/// A replay in progress.
#[derive(Default)]
pub struct Replay {
    procs: Vec<String>,
    calls: BTreeMap<u64, Replayed>,
    threads: BTreeMap<u64, Ledger>,
    first: Option<u64>,
    now: u64,
}

/// What a replay came to.
#[derive(Debug)]
pub struct Outcome {
    /// Settled totals; proc ids index `procs`.
    pub tally: Tally,
    /// Names by proc id.
    pub procs: Vec<String>,
    /// Calls by id.
    pub calls: BTreeMap<u64, Replayed>,
    /// Busy time by thread.
    pub busy: BTreeMap<u64, u64>,
    /// Last instant minus first event.
    pub window: u64,
}

impl Replay {
    fn proc(&mut self, name: &str) -> u32 {
        let known = self.procs.iter().position(|proc| proc == name);
        known.unwrap_or_else(|| {
            self.procs.push(String::from(name));
            self.procs.len() - 1
        }) as u32
    }

    /// Takes one event.
    pub fn event(&mut self, event: &Event) {
        self.first = Some(self.first.unwrap_or(event.t).min(event.t));
        self.now = self.now.max(event.t);
        let proc = match &event.kind {
            Kind::Create(name)
            | Kind::PollStart {
                proc: Some(name), ..
            } => self.proc(name),
            _ => self.proc_of(event),
        };
        let ledger = self
            .threads
            .entry(event.thread)
            .or_insert_with(|| Ledger::new(EPOCH, event.thread as u32));
        let calls = &mut self.calls;
        match &event.kind {
            Kind::Create(_) => {
                let mut replayed = Replayed::new(proc, event.t);
                ledger.create(&mut replayed.call, event.t);
                calls.insert(event.id, replayed);
            }
            Kind::PollStart { root, .. } => {
                let replayed = calls
                    .entry(event.id)
                    .or_insert_with(|| Replayed::new(proc, event.t));
                if replayed.standing == Standing::Live {
                    replayed.start(ledger, event, *root);
                }
            }
            Kind::PollEnd(end) => poll_end(ledger, calls, event, *end),
            Kind::Drop => {
                if let Some(replayed) = calls.get_mut(&event.id) {
                    ledger.drop_call(&mut replayed.call, event.t);
                    replayed.over(event.t, Standing::Cancelled);
                }
            }
        }
    }

    fn proc_of(&mut self, event: &Event) -> u32 {
        let polled = matches!(event.kind, Kind::PollStart { .. });
        match self.calls.get(&event.id) {
            Some(replayed) => replayed.proc,
            None if polled => self.proc("?"),
            None => 0,
        }
    }

    /// Totals as of `now`, or of the last event.
    #[must_use]
    pub fn finish(mut self, now: Option<u64>) -> Outcome {
        let now = now.unwrap_or(self.now);
        let mut tally = Tally::default();
        let mut busy = BTreeMap::new();
        for (&thread, ledger) in &self.threads {
            let reading = ledger.collect(now, &mut tally, &mut || ());
            busy.insert(thread, reading.busy);
            close_open(&ledger.open_polls(), now, &mut self.calls);
        }
        tally.settle(now);
        let window = now.saturating_sub(self.first.unwrap_or(now));
        Outcome {
            tally,
            procs: self.procs,
            calls: self.calls,
            busy,
            window,
        }
    }
}

fn poll_end(ledger: &Ledger, calls: &mut BTreeMap<u64, Replayed>, event: &Event, end: PollEnd) {
    let mut stranger = Replayed::new(0, event.t);
    let mut own = calls.remove(&event.id);
    let replayed = own.as_mut().unwrap_or(&mut stranger);
    let charge = ledger.poll_end_of(&mut replayed.call, event.id, event.t, end, |forced| {
        if let Some(other) = calls.get_mut(&forced.key) {
            other.charge.add(&forced);
        }
    });
    if let Some(charge) = charge {
        replayed.charge.add(&charge);
        match end {
            PollEnd::Pending => {}
            PollEnd::Ready | PollEnd::Err => replayed.over(event.t, Standing::Ready),
            PollEnd::Panic => replayed.over(event.t, Standing::Panicked),
            PollEnd::Torn => replayed.over(event.t, Standing::Cancelled),
        }
    }
    if let Some(own) = own {
        calls.insert(event.id, own);
    }
}

fn close_open(open: &[crate::read::OpenPoll], now: u64, calls: &mut BTreeMap<u64, Replayed>) {
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

impl Replayed {
    fn new(proc: u32, t: u64) -> Self {
        Self {
            call: Call::new(ProcKey {
                id: proc,
                future_bytes: 0,
            }),
            proc,
            standing: Standing::Live,
            created: t,
            first: None,
            ended: None,
            polls: 0,
            charge: Charge::default(),
        }
    }

    fn start(&mut self, ledger: &Ledger, event: &Event, root: bool) {
        let start = Start {
            root,
            key: event.id,
        };
        if ledger.poll_start(&mut self.call, event.t, start).is_some() {
            self.polls += 1;
            self.first.get_or_insert(event.t);
        }
    }

    fn over(&mut self, t: u64, standing: Standing) {
        if self.standing == Standing::Live {
            self.standing = standing;
            self.ended = Some(t);
        }
    }
}
