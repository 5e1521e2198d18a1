//! A second accountant, slow and plain: it cuts each thread's time into slices and asks of every
//! slice what stood on the stack.
//!
//! It shares nothing with the ledger but the events: no running sums, no deduction, no frames that
//! carry time. What a number means is taken from the occupancy definitions word by word.

mod expect;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use turbowish_model::account::call::PollEnd;
use turbowish_model::event::{CallEvent, Event};

use crate::streams::{PROCS, written};

/// The file of one vector: a stream of [`streams`](crate::streams), and what this accountant makes
/// of it. Open polls end at `now`, or at the last event.
#[must_use]
pub fn vector(events: &[Event], now: Option<u64>) -> String {
    let mut accountant = Accountant::default();
    events.iter().for_each(|event| accountant.event(event));
    let expect = accountant.expect(now);
    json!({"vectors": [{"name": "random", "events": written(events), "now": now, "expect": expect}]})
        .to_string()
}

/// A poll, and the time that passed in it, by what it was.
struct PollAccount {
    call: usize,
    proc: String,
    root: bool,
    /// It is over: ended, or closed because one below it ended.
    finished: bool,
    /// The proc in whose poll it is directly nested; none at the bottom, and none for a root.
    caller: Option<String>,
    hold: u64,
    running: u64,
    foreign: u64,
}

struct CallAccount {
    id: u64,
    proc: String,
    created: u64,
    creator: Option<String>,
    first: Option<u64>,
    end: Option<(u64, &'static str)>,
    polls: Vec<usize>,
    /// End of the last poll, if the call waits.
    suspended: Option<u64>,
    /// Duration of each wait that has ended.
    waits: Vec<u64>,
}

impl CallAccount {
    /// The call is polled or dropped at `t`.
    fn end_wait(&mut self, t: u64) {
        let wait = self.suspended.take().map(|since| t.saturating_sub(since));
        self.waits.extend(wait);
    }
}

#[derive(Default)]
struct ThreadAccount {
    last: Option<u64>,
    /// Open polls, bottom first.
    stack: Vec<usize>,
    busy: u64,
}

/// The account of a list of events.
#[derive(Default)]
struct Accountant {
    polls: Vec<PollAccount>,
    calls: Vec<CallAccount>,
    /// The call that an id means now.
    named: BTreeMap<u64, usize>,
    threads: BTreeMap<u64, ThreadAccount>,
    /// Time during which some poll of a proc was on a stack with no root above it.
    inclusive: BTreeMap<String, u64>,
    anomalies: BTreeMap<&'static str, u64>,
    first: Option<u64>,
    last: u64,
}

impl Accountant {
    fn event(&mut self, event: &Event) {
        let Some((id, kind)) = event.call() else {
            return;
        };
        let thread = event.thread;
        let t = self.reach(thread, event.t);
        self.first = Some(self.first.map_or(t, |first| first.min(t)));
        self.last = self.last.max(t);
        match kind {
            CallEvent::Create { proc } => {
                let known = self.named.get(&id);
                if known.is_none_or(|&call| self.calls[call].end.is_some()) {
                    self.create(thread, id, PROCS[proc as usize], t);
                }
            }
            CallEvent::PollStart { proc, root } => {
                if !self.named.contains_key(&id) {
                    self.count("late_attach");
                    let proc = proc.map_or("?", |proc| PROCS[proc as usize]);
                    self.create(thread, id, proc, t);
                }
                self.start(thread, id, root, t);
            }
            CallEvent::PollEnd(end) => self.end(thread, id, end, t),
            CallEvent::Drop => self.drop_call(thread, id, t),
            CallEvent::Wake | CallEvent::Await { .. } | CallEvent::Unaccounted => {}
        }
    }

    /// The thread's time goes on to `t`: the slice since its last event belongs to what stands on
    /// its stack.
    fn reach(&mut self, thread: u64, t: u64) -> u64 {
        let at = self.threads.entry(thread).or_default();
        let last = at.last.unwrap_or(t);
        let now = t.max(last);
        at.last = Some(now);
        if t < last {
            self.count("clock_backwards");
        }
        self.slice(thread, now - last);
        now
    }

    fn slice(&mut self, thread: u64, length: u64) {
        let Some(at) = self.threads.get_mut(&thread) else {
            return;
        };
        let stack = at.stack.clone();
        if stack.is_empty() {
            return;
        }
        at.busy += length;
        let mut present = BTreeSet::new();
        for (depth, &poll) in stack.iter().enumerate() {
            let under_root = stack[depth + 1..]
                .iter()
                .any(|&above| self.polls[above].root);
            let poll = &mut self.polls[poll];
            poll.hold += length;
            if depth + 1 == stack.len() {
                poll.running += length;
            }
            if under_root {
                poll.foreign += length;
            } else {
                present.insert(poll.proc.clone());
            }
        }
        for proc in present {
            *self.inclusive.entry(proc).or_default() += length;
        }
    }

    fn count(&mut self, anomaly: &'static str) {
        *self.anomalies.entry(anomaly).or_default() += 1;
    }

    fn top(&self, thread: u64) -> Option<String> {
        let top = self.threads.get(&thread)?.stack.last()?;
        Some(self.polls[*top].proc.clone())
    }

    fn create(&mut self, thread: u64, id: u64, proc: &str, t: u64) {
        self.named.insert(id, self.calls.len());
        self.calls.push(CallAccount {
            id,
            proc: proc.to_owned(),
            created: t,
            creator: self.top(thread),
            first: None,
            end: None,
            polls: Vec::new(),
            suspended: None,
            waits: Vec::new(),
        });
    }

    fn is_open(&self, call: usize) -> bool {
        let mut open = self.threads.values().flat_map(|thread| &thread.stack);
        open.any(|&poll| self.polls[poll].call == call)
    }

    fn start(&mut self, thread: u64, id: u64, root: bool, t: u64) {
        let call = self.named[&id];
        if self.calls[call].end.is_some() || self.is_open(call) {
            return;
        }
        let caller = if root { None } else { self.top(thread) };
        let poll = self.polls.len();
        self.polls.push(PollAccount {
            call,
            proc: self.calls[call].proc.clone(),
            root,
            finished: false,
            caller,
            hold: 0,
            running: 0,
            foreign: 0,
        });
        self.calls[call].polls.push(poll);
        self.calls[call].first.get_or_insert(t);
        self.calls[call].end_wait(t);
        let thread = self.threads.get_mut(&thread).expect("reached");
        thread.stack.push(poll);
    }

    /// Closes the poll of the event's call on its thread, and those above it.
    fn close(&mut self, thread: u64, id: u64) -> Option<usize> {
        let call = *self.named.get(&id)?;
        let thread = self.threads.get_mut(&thread).expect("reached");
        let depth = thread
            .stack
            .iter()
            .position(|&poll| self.polls[poll].call == call)?;
        let closed = thread.stack.split_off(depth);
        for &poll in &closed {
            self.polls[poll].finished = true;
        }
        for _ in 1..closed.len() {
            self.count("forced_pop");
        }
        Some(call)
    }

    fn end(&mut self, thread: u64, id: u64, end: PollEnd, t: u64) {
        let Some(call) = self.close(thread, id) else {
            self.count("orphan_end");
            return;
        };
        let outcome = match end {
            PollEnd::Pending => {
                self.calls[call].suspended = Some(t);
                return;
            }
            PollEnd::Ready | PollEnd::Err => "ready",
            PollEnd::Panic => "panicked",
            PollEnd::Torn => "cancelled",
        };
        self.calls[call].end = Some((t, outcome));
    }

    fn drop_call(&mut self, thread: u64, id: u64, t: u64) {
        let Some(&call) = self.named.get(&id) else {
            return;
        };
        if self.calls[call].end.is_some() {
            return;
        }
        if self.is_open(call) && self.close(thread, id).is_none() {
            // It is being polled on another thread.
            return;
        }
        self.calls[call].end_wait(t);
        self.calls[call].end = Some((t, "cancelled"));
    }
}
