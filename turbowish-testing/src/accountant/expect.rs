//! The numbers of an account, as a vector expects them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Accountant, CallAccount, PollAccount};

impl Accountant {
    fn sum(&self, call: &CallAccount, of: impl Fn(&PollAccount) -> u64) -> u64 {
        call.polls.iter().map(|&poll| of(&self.polls[poll])).sum()
    }

    /// The expectation of a vector with these events, all open polls ending at `now`.
    pub(super) fn expect(mut self, now: Option<u64>) -> Value {
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

    fn times(&self, call: &CallAccount, now: u64) -> BTreeMap<&'static str, u64> {
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

    fn call(&self, call: &CallAccount, now: u64) -> Value {
        let mut fields = json!(self.times(call, now));
        fields["proc"] = json!(call.proc);
        fields["outcome"] = json!(call.end.map_or("live", |(_, outcome)| outcome));
        assert!(self.named.contains_key(&call.id));
        fields
    }

    fn proc(&self, name: &str, now: u64, window: u64) -> Value {
        let calls: Vec<&CallAccount> = self.calls.iter().filter(|call| call.proc == name).collect();
        let mut fields: BTreeMap<&str, u64> = BTreeMap::new();
        for call in &calls {
            for (field, time) in self.times(call, now) {
                *fields.entry(field).or_default() += time;
            }
        }
        let ppm = u128::from(fields["running"]) * 1_000_000 / u128::from(window).max(1);
        let inclusive = self.inclusive.get(name).copied().unwrap_or_default();
        let inclusive_sum = fields.insert("inclusive", inclusive).unwrap_or_default();
        fields.extend([
            ("inclusive_sum", inclusive_sum),
            ("occupancy_ppm", ppm as u64),
        ]);
        fields.extend(counts(&calls));
        let created = self.calls.iter();
        let created = created.filter(|call| call.creator.as_deref() == Some(name));
        let offspring = created.map(|call| self.sum(call, |poll| poll.hold - poll.foreign));
        fields.insert("offspring", offspring.sum());
        let mut fields = json!(fields);
        self.add_populations(name, &calls, &mut fields);
        fields
    }

    /// Adds the distributions over a proc's calls and polls, and their maxima.
    fn add_populations(&self, name: &str, calls: &[&CallAccount], fields: &mut Value) {
        let own = || self.polls.iter().filter(|poll| poll.proc == name);
        let finished = |of: &dyn Fn(&PollAccount) -> u64| -> Vec<u64> {
            own().filter(|poll| poll.finished).map(of).collect()
        };
        let ended: Vec<_> = calls
            .iter()
            .filter_map(|call| Some((call, call.first.and(call.end)?.0)))
            .collect();
        let over = |of: &dyn Fn(&PollAccount) -> u64| -> Vec<u64> {
            ended.iter().map(|(call, _)| self.sum(call, of)).collect()
        };
        let wall = ended.iter().map(|(call, end)| end - call.created);
        let call_running = over(&|poll| poll.running);
        fields["max_call_running"] = json!(call_running.iter().copied().max().unwrap_or_default());
        fields["max_poll"] = json!(own().map(|poll| poll.hold).max().unwrap_or_default());
        fields["call_running"] = population(call_running);
        fields["call_inclusive"] = population(over(&|poll| poll.hold - poll.foreign));
        fields["call_wall"] = population(wall.collect());
        let waits = calls.iter().flat_map(|call| call.waits.iter().copied());
        fields["await_wait"] = population(waits.collect());
        fields["poll_hold"] = population(finished(&|poll| poll.hold));
        fields["poll_running"] = population(finished(&|poll| poll.running));
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

/// Numbers of calls of a proc.
fn counts(calls: &[&CallAccount]) -> [(&'static str, u64); 6] {
    let count = |matches: &dyn Fn(&CallAccount) -> bool| {
        calls.iter().filter(|call| matches(call)).count() as u64
    };
    let ended = |outcome: &str| count(&|call| call.end.is_some_and(|(_, how)| how == outcome));
    [
        ("calls", calls.len() as u64),
        ("live", count(&|call| call.end.is_none())),
        ("ready", ended("ready")),
        ("cancelled", ended("cancelled")),
        ("panicked", ended("panicked")),
        (
            "never_polled",
            count(&|call| call.end.is_some() && call.first.is_none()),
        ),
    ]
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
