//! A second accountant, slow and plain: it cuts each thread's time into slices and asks of every slice what stood on the stack.
//!
//! It shares nothing with the ledger but the events: no running sums, no deduction, no frames that carry
//! time. What a number means is taken from the occupancy definitions word by word.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use turbowish_model::account::call::PollEnd;
use turbowish_model::replay::{Event, Kind};

use super::streams::written;

/// The file of one vector: a stream, and what the second accountant makes of it.
pub(crate) fn vector(events: &[Event], now: Option<u64>) -> String {
    let mut accountant = Accountant::default();
    events.iter().for_each(|event| accountant.event(event));
    let expect = accountant.expect(now);
    json!({"vectors": [{"name": "random", "events": written(events), "now": now, "expect": expect}]})
        .to_string()
}

/// A poll, and the time that passed in it, by what it was.
struct Poll {
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

struct Call {
    id: u64,
    proc: String,
    created: u64,
    creator: Option<String>,
    first: Option<u64>,
    end: Option<(u64, &'static str)>,
    polls: Vec<usize>,
}

#[derive(Default)]
struct Thread {
    last: Option<u64>,
    /// Open polls, bottom first.
    stack: Vec<usize>,
    busy: u64,
}

/// The account of a list of events.
#[derive(Default)]
struct Accountant {
    polls: Vec<Poll>,
    calls: Vec<Call>,
    /// The call that an id means now.
    named: BTreeMap<u64, usize>,
    threads: BTreeMap<u64, Thread>,
    /// Time during which some poll of a proc was on a stack with no root above it.
    inclusive: BTreeMap<String, u64>,
    anomalies: BTreeMap<&'static str, u64>,
    first: Option<u64>,
    last: u64,
}

impl Accountant {
    fn event(&mut self, event: &Event) {
        let t = self.reach(event.thread, event.t);
        self.first = Some(self.first.map_or(t, |first| first.min(t)));
        self.last = self.last.max(t);
        match &event.kind {
            Kind::Create(proc) => {
                let known = self.named.get(&event.id);
                if known.is_none_or(|&call| self.calls[call].end.is_some()) {
                    self.create(event, proc, t);
                }
            }
            Kind::PollStart { proc, root } => {
                if !self.named.contains_key(&event.id) {
                    self.count("late_attach");
                    self.create(event, proc.as_deref().unwrap_or("?"), t);
                }
                self.start(event, *root, t);
            }
            Kind::PollEnd(end) => self.end(event, *end, t),
            Kind::Drop => self.drop_call(event, t),
            Kind::Wake => {}
        }
    }

    /// The thread's time goes on to `t`: the slice since its last event belongs to what stands on its stack.
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

    fn create(&mut self, event: &Event, proc: &str, t: u64) {
        self.named.insert(event.id, self.calls.len());
        self.calls.push(Call {
            id: event.id,
            proc: proc.to_owned(),
            created: t,
            creator: self.top(event.thread),
            first: None,
            end: None,
            polls: Vec::new(),
        });
    }

    fn is_open(&self, call: usize) -> bool {
        let mut open = self.threads.values().flat_map(|thread| &thread.stack);
        open.any(|&poll| self.polls[poll].call == call)
    }

    fn start(&mut self, event: &Event, root: bool, t: u64) {
        let call = self.named[&event.id];
        if self.calls[call].end.is_some() || self.is_open(call) {
            return;
        }
        let caller = if root { None } else { self.top(event.thread) };
        let poll = self.polls.len();
        self.polls.push(Poll {
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
        let thread = self.threads.get_mut(&event.thread).expect("reached");
        thread.stack.push(poll);
    }

    /// Closes the poll of the event's call on its thread, and those above it.
    fn close(&mut self, event: &Event) -> Option<usize> {
        let call = *self.named.get(&event.id)?;
        let thread = self.threads.get_mut(&event.thread).expect("reached");
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

    fn end(&mut self, event: &Event, end: PollEnd, t: u64) {
        let Some(call) = self.close(event) else {
            self.count("orphan_end");
            return;
        };
        let outcome = match end {
            PollEnd::Pending => return,
            PollEnd::Ready | PollEnd::Err => "ready",
            PollEnd::Panic => "panicked",
            PollEnd::Torn => "cancelled",
        };
        self.calls[call].end = Some((t, outcome));
    }

    fn drop_call(&mut self, event: &Event, t: u64) {
        let Some(&call) = self.named.get(&event.id) else {
            return;
        };
        if self.calls[call].end.is_some() {
            return;
        }
        if self.is_open(call) && self.close(event).is_none() {
            // It is being polled on another thread.
            return;
        }
        self.calls[call].end = Some((t, "cancelled"));
    }

    fn sum(&self, call: &Call, of: impl Fn(&Poll) -> u64) -> u64 {
        call.polls.iter().map(|&poll| of(&self.polls[poll])).sum()
    }

    /// The expectation of a vector with these events, all open polls ending at `now`.
    fn expect(mut self, now: Option<u64>) -> Value {
        let now = now.unwrap_or(self.last);
        for thread in self.threads.keys().copied().collect::<Vec<u64>>() {
            let last = self.threads[&thread].last.unwrap_or(now);
            self.slice(thread, now.saturating_sub(last));
        }
        let window = now - self.first.unwrap_or(now);
        let names: BTreeSet<&String> = self.calls.iter().map(|call| &call.proc).collect();
        let procs = names
            .iter()
            .map(|name| ((*name).clone(), self.proc(name, now, window)));
        let procs: serde_json::Map<String, Value> = procs.collect();
        let named = self.named.iter();
        let calls = named.map(|(id, &call)| (id.to_string(), self.call(&self.calls[call], now)));
        let calls: serde_json::Map<String, Value> = calls.collect();
        let busy = self.threads.iter();
        let busy = busy.map(|(id, thread)| (id.to_string(), json!(thread.busy)));
        let busy: serde_json::Map<String, Value> = busy.collect();
        json!({
            "procs": procs,
            "calls": calls,
            "busy": busy,
            "edges": self.edges(),
            "anomalies": self.anomalies,
        })
    }

    fn times(&self, call: &Call, now: u64) -> BTreeMap<&'static str, u64> {
        let end = call.end.map_or(now, |(t, _)| t);
        let wall = end - call.created;
        let unstarted = call.first.unwrap_or(end) - call.created;
        let hold = self.sum(call, |poll| poll.hold);
        let running = self.sum(call, |poll| poll.running);
        let foreign = self.sum(call, |poll| poll.foreign);
        let (in_child, yielded) = (hold - foreign - running, wall - unstarted - hold);
        assert_eq!(wall, unstarted + running + in_child + foreign + yielded);
        BTreeMap::from([
            ("running", running),
            ("inclusive", hold - foreign),
            ("hold", hold),
            ("wall", wall),
            ("unstarted", unstarted),
            ("polls", call.polls.len() as u64),
            ("in_child", in_child),
            ("foreign", foreign),
            ("yielded", yielded),
            ("paused", yielded + in_child + foreign),
        ])
    }

    fn call(&self, call: &Call, now: u64) -> Value {
        let mut fields = json!(self.times(call, now));
        fields["proc"] = json!(call.proc);
        fields["outcome"] = json!(call.end.map_or("live", |(_, outcome)| outcome));
        assert!(self.named.contains_key(&call.id));
        fields
    }

    fn proc(&self, name: &str, now: u64, window: u64) -> Value {
        let calls: Vec<&Call> = self.calls.iter().filter(|call| call.proc == name).collect();
        let mut fields: BTreeMap<&str, u64> = BTreeMap::new();
        for call in &calls {
            for (field, time) in self.times(call, now) {
                *fields.entry(field).or_default() += time;
            }
        }
        let count = |matches: &dyn Fn(&Call) -> bool| {
            calls.iter().filter(|call| matches(call)).count() as u64
        };
        let ended = |outcome: &str| count(&|call| call.end.is_some_and(|(_, how)| how == outcome));
        let own = || self.polls.iter().filter(|poll| poll.proc == name);
        let finished = |of: &dyn Fn(&Poll) -> u64| -> Vec<u64> {
            own().filter(|poll| poll.finished).map(of).collect()
        };
        let over = |of: &dyn Fn(&Poll) -> u64| -> Vec<u64> {
            let over = calls
                .iter()
                .filter(|call| call.end.is_some() && call.first.is_some());
            over.map(|call| self.sum(call, of)).collect()
        };
        let created = self
            .calls
            .iter()
            .filter(|call| call.creator.as_deref() == Some(name));
        let call_running = over(&|poll| poll.running);
        let inclusive_sum = fields["inclusive"];
        fields.extend([
            (
                "inclusive",
                self.inclusive.get(name).copied().unwrap_or_default(),
            ),
            ("inclusive_sum", inclusive_sum),
            ("calls", calls.len() as u64),
            ("live", count(&|call| call.end.is_none())),
            ("ready", ended("ready")),
            ("cancelled", ended("cancelled")),
            ("panicked", ended("panicked")),
            (
                "never_polled",
                count(&|call| call.end.is_some() && call.first.is_none()),
            ),
            (
                "max_call_running",
                call_running.iter().copied().max().unwrap_or_default(),
            ),
            (
                "max_poll",
                own().map(|poll| poll.hold).max().unwrap_or_default(),
            ),
            (
                "offspring",
                created
                    .map(|call| self.sum(call, |poll| poll.hold - poll.foreign))
                    .sum(),
            ),
        ]);
        let ppm = u128::from(fields["running"]) * 1_000_000 / u128::from(window).max(1);
        fields.insert("occupancy_ppm", ppm as u64);
        let mut fields = json!(fields);
        fields["call_running"] = population(call_running);
        fields["call_inclusive"] = population(over(&|poll| poll.hold - poll.foreign));
        fields["poll_hold"] = population(finished(&|poll| poll.hold));
        fields["poll_running"] = population(finished(&|poll| poll.running));
        fields
    }

    fn edges(&self) -> Value {
        let mut edges: BTreeMap<(&str, &str, &str), (u64, u64)> = BTreeMap::new();
        for poll in self.polls.iter().filter(|poll| poll.finished) {
            if let Some(caller) = &poll.caller {
                let edge = edges.entry(("await", caller, &poll.proc)).or_default();
                *edge = (edge.0 + 1, edge.1 + poll.hold);
            }
        }
        for call in &self.calls {
            if let Some(creator) = &call.creator {
                let edge = edges.entry(("create", creator, &call.proc)).or_default();
                let inclusive = self.sum(call, |poll| poll.hold - poll.foreign);
                *edge = (edge.0 + 1, edge.1 + inclusive);
            }
        }
        let edges = edges.iter().map(|((kind, parent, child), (n, ns))| {
            json!({"kind": kind, "parent": parent, "child": child, "n": n, "ns": ns})
        });
        edges.collect()
    }
}

/// Nearest rank: `sorted[ceil(q·n/100) - 1]`.
fn population(mut values: Vec<u64>) -> Value {
    values.sort_unstable();
    let rank = |q: usize| values.get((q * values.len()).div_ceil(100).wrapping_sub(1));
    json!({
        "n": values.len(),
        "sum": values.iter().sum::<u64>(),
        "p50": rank(50), "p90": rank(90), "p95": rank(95), "p99": rank(99), "p100": rank(100),
    })
}
