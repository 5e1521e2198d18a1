//! Compares what was accounted with what a vector expects, number by number.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};
use turbowish_model::account::aggregate::{Aggregate, ProcStats};
use turbowish_model::account::counters::{Population, Sum};
use turbowish_model::snapshot::quantile::{Distribution, Percentile};

use super::Vector;
use super::fields::{call_fields, distribution, fields, offspring, outcome_word, waits};
use crate::replay::Outcome;

/// A value that differs from the vector's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Name of the vector.
    pub vector: String,
    /// Path of the value in the expectation.
    pub field: String,
    /// The vector's value.
    pub expected: String,
    /// The value that was accounted.
    pub got: String,
    /// The mistake that gives one of the two.
    pub trap: Option<String>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            vector,
            field,
            expected,
            got,
            trap,
        } = self;
        write!(f, "{vector}: {field}: expected {expected}, got {got}")?;
        match trap {
            Some(trap) => write!(f, " ({trap})"),
            None => Ok(()),
        }
    }
}

/// Totals to compare.
#[derive(Debug)]
pub struct Got<'a> {
    /// The totals.
    pub aggregate: &'a Aggregate,
    /// Names of procs, by proc id.
    pub procs: &'a [String],
    /// Length of the observation.
    pub window: u64,
}

impl Got<'_> {
    fn name(&self, proc: u32) -> String {
        let name = self.procs.get(proc as usize).cloned();
        name.unwrap_or_else(|| "(others, beyond the ledger's limit)".to_owned())
    }
}

/// Comparison of accounted values with those of a vector.
#[derive(Debug)]
pub struct Check<'a> {
    vector: &'a Vector,
    /// Values that differ, so far.
    pub mismatches: Vec<Mismatch>,
    /// Number of values compared so far.
    pub compared: usize,
}

const POPULATIONS: [(&str, Population); 5] = [
    ("call_running", Population::CallRunning),
    ("call_inclusive", Population::CallInclusive),
    ("call_wall", Population::CallWall),
    ("poll_hold", Population::PollHold),
    ("poll_running", Population::PollRunning),
];
/// A population over the waits of all await points.
const WAITS: &str = "await_wait";
const PERCENTS: [(&str, u8); 5] = [
    ("p50", 50),
    ("p90", 90),
    ("p95", 95),
    ("p99", 99),
    ("p100", 100),
];
const ANOMALIES: [&str; 4] = ["late_attach", "orphan_end", "forced_pop", "clock_backwards"];
const ABSENT: &str = "nothing";
/// Name of the proc of calls whose events never name it.
const UNNAMED: &str = "?";
/// A percentile may be above the exact value by this much.
const PERMILLE: u128 = 1032;

fn shown<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), |value| value.to_string())
}

impl<'a> Check<'a> {
    /// A comparison with this vector.
    #[must_use]
    pub fn new(vector: &'a Vector) -> Self {
        Self {
            vector,
            mismatches: Vec::new(),
            compared: 0,
        }
    }

    /// Compares all that a replay can answer.
    pub fn replay(&mut self, outcome: &Outcome) {
        let names = &self.vector.names.procs;
        let name = |proc: &Option<u32>| proc.map_or(UNNAMED, |proc| names.name(proc)).to_owned();
        let procs: Vec<String> = outcome.procs.iter().map(name).collect();
        let got = Got {
            aggregate: &outcome.aggregate,
            procs: &procs,
            window: outcome.window,
        };
        self.totals(&got);
        self.calls(outcome, &procs);
        self.busy(&outcome.busy);
        let sum = |sum| {
            outcome
                .aggregate
                .procs
                .iter()
                .map(move |proc| proc.sum(sum))
        };
        let running = sum(Sum::Running).fold(0, u64::wrapping_add);
        let busy = outcome.busy.values().copied().fold(0, u64::wrapping_add);
        self.same("conservation (running of all procs = busy)", busy, running);
    }

    /// Compares what totals can answer: procs, edges, anomalies.
    pub fn totals(&mut self, got: &Got<'_>) {
        self.procs(got);
        self.oracle(got);
        self.edges(got);
        let expected = self.part("anomalies");
        for (name, got) in ANOMALIES.into_iter().zip(got.aggregate.anomalies) {
            // Those that are left out have not happened.
            if self.vector.expect.contains_key("anomalies") {
                let expected = expected.get(name).cloned().unwrap_or_else(|| 0.into());
                self.equal(&format!("anomalies.{name}"), &expected, got);
            }
        }
        let unknown = expected
            .keys()
            .filter(|name| !ANOMALIES.contains(&name.as_str()));
        self.unknown("anomalies", unknown);
        let parts = ["procs", "calls", "busy", "edges", "anomalies"];
        let keys = self.vector.expect.keys();
        self.unknown(
            "expect",
            keys.filter(|part| !parts.contains(&part.as_str())),
        );
    }

    /// Compares busy times by thread.
    pub fn busy(&mut self, got: &BTreeMap<u64, u64>) {
        let expected = self.part("busy");
        if !self.vector.expect.contains_key("busy") {
            return;
        }
        for (thread, busy) in &expected {
            let number = thread.parse().unwrap_or_default();
            let got = got.get(&number).copied().unwrap_or_default();
            self.equal(&format!("busy.{thread}"), busy, got);
        }
        for (thread, &busy) in got {
            if busy > 0 && !expected.contains_key(&thread.to_string()) {
                self.differ(&format!("busy.{thread}"), ABSENT, busy);
            }
        }
    }

    fn part(&self, name: &str) -> Map<String, Value> {
        let part = self.vector.expect.get(name).and_then(Value::as_object);
        part.cloned().unwrap_or_default()
    }

    fn differ(&mut self, field: &str, expected: impl ToString, got: impl ToString) {
        let (expected, got) = (expected.to_string(), got.to_string());
        let fallen = self.trap(field, &got).map(|trap| format!("trap: {trap}"));
        let set = || {
            let trap = self.trap(field, &expected)?;
            Some(format!("what is expected is the trap: {trap}"))
        };
        self.mismatches.push(Mismatch {
            vector: self.vector.name.clone(),
            field: field.to_owned(),
            trap: fallen.or_else(set),
            expected,
            got,
        });
    }

    fn same<T: PartialEq + ToString>(&mut self, field: &str, expected: T, got: T) {
        self.compared += 1;
        if expected != got {
            self.differ(field, expected, got);
        }
    }

    fn equal(&mut self, field: &str, expected: &Value, got: u64) {
        self.compared += 1;
        if expected.as_u64() != Some(got) {
            self.differ(field, expected, got);
        }
    }

    fn unknown<'k>(&mut self, place: &str, keys: impl Iterator<Item = &'k String>) {
        for key in keys {
            self.differ(&format!("{place}.{key}"), "something", "no such number");
        }
    }

    /// The mistake that gives `got`: a trap is named `FIELD_if_…`, and holds wrong numbers by proc.
    fn trap(&self, field: &str, got: &str) -> Option<String> {
        let (proc, field) = field.strip_prefix("procs.")?.rsplit_once('.')?;
        let matches = |(name, wrong): &(&String, &Value)| {
            let of_field = name
                .split_once("_if_")
                .is_none_or(|(about, _)| about == field);
            let wrong = wrong.get(proc).map(ToString::to_string);
            of_field && wrong.as_deref() == Some(got)
        };
        let trap = self.vector.traps.iter().find(matches);
        trap.map(|(name, _)| name.clone())
    }

    fn procs(&mut self, got: &Got<'_>) {
        let expected = self.part("procs");
        let nothing = ProcStats::default();
        for (name, expected) in &expected {
            let id = got.procs.iter().position(|proc| proc == name);
            let proc = id.and_then(|id| got.aggregate.procs.get(id));
            let place = format!("procs.{name}");
            let fields = fields(proc.unwrap_or(&nothing), got, id);
            self.fields(&place, expected, &fields);
            for (field, population) in POPULATIONS {
                if let Some(expected) = expected.get(field).and_then(Value::as_object) {
                    let place = format!("{place}.{field}");
                    let got = distribution(proc.unwrap_or(&nothing), population);
                    self.population(&place, expected, &got);
                }
            }
            if let Some(expected) = expected.get(WAITS).and_then(Value::as_object) {
                let got = waits(proc.unwrap_or(&nothing));
                self.population(&format!("{place}.{WAITS}"), expected, &got);
            }
            let known = |field: &String| {
                fields.iter().any(|(name, _)| name == field)
                    || POPULATIONS.iter().any(|(name, _)| name == field)
                    || field == WAITS
            };
            let keys = expected.as_object().into_iter().flat_map(Map::keys);
            self.unknown(&place, keys.filter(|field| !known(field)));
        }
        if expected.is_empty() && !self.vector.expect.contains_key("procs") {
            return;
        }
        for (name, proc) in got.procs.iter().zip(&got.aggregate.procs) {
            if proc.sum(Sum::Calls) > 0 && !expected.contains_key(name) {
                let calls = format!("{} calls", proc.sum(Sum::Calls));
                self.differ(&format!("procs.{name}"), ABSENT, calls);
            }
        }
    }

    fn fields(&mut self, place: &str, expected: &Value, fields: &[(&str, u64)]) {
        for (field, got) in fields {
            if let Some(expected) = expected.get(field) {
                self.equal(&format!("{place}.{field}"), expected, *got);
            }
        }
    }

    /// `exact <= reported <= exact * 1.032`; the number of values and the maximum to the unit.
    fn population(&mut self, place: &str, expected: &Map<String, Value>, got: &Distribution) {
        if let Some(n) = expected.get("n") {
            self.equal(&format!("{place}.n"), n, got.n);
        }
        if let Some(sum) = expected.get("sum") {
            self.equal(&format!("{place}.sum"), sum, got.sum_ns);
        }
        for (key, percent) in PERCENTS {
            let Some(expected) = expected.get(key) else {
                continue;
            };
            self.compared += 1;
            let reported = got.percentile(Percentile::whole(percent));
            let fits = match (expected.as_u64(), reported) {
                (None, None) => true,
                (Some(exact), Some(reported)) if percent == 100 => exact == reported,
                (Some(exact), Some(reported)) => {
                    reported >= exact && u128::from(reported) * 1000 <= u128::from(exact) * PERMILLE
                }
                _ => false,
            };
            if !fits {
                let expected = shown(expected.as_u64());
                self.differ(&format!("{place}.{key}"), expected, shown(reported));
            }
        }
        let known = |key: &String| {
            key == "n" || key == "sum" || PERCENTS.iter().any(|(percent, _)| percent == key)
        };
        self.unknown(place, expected.keys().filter(|key| !known(key)));
    }

    /// Another profiler's numbers of the same scenario.
    fn oracle(&mut self, got: &Got<'_>) {
        let vector = self.vector;
        for (name, numbers) in &vector.oracle {
            let id = got.procs.iter().position(|proc| proc == name);
            let Some((id, proc)) = id.and_then(|id| Some((id, got.aggregate.procs.get(id)?)))
            else {
                self.differ(&format!("chroprof_oracle.{name}"), "a proc", ABSENT);
                continue;
            };
            let fields = [
                ("execTime", proc.sum(Sum::Running)),
                ("wallClockTime", proc.sum(Sum::Wall)),
                ("childrenExecTime", offspring(got, id as u32)),
            ];
            self.fields(&format!("chroprof_oracle.{name}"), numbers, &fields);
        }
    }

    fn calls(&mut self, outcome: &Outcome, procs: &[String]) {
        let expected = self.part("calls");
        for (id, expected) in &expected {
            let place = format!("calls.{id}");
            let Some(call) = id.parse().ok().and_then(|id: u64| outcome.calls.get(&id)) else {
                self.differ(&place, "a call", ABSENT);
                continue;
            };
            let fields = call_fields(call, outcome.now);
            self.fields(&place, expected, &fields);
            let name = procs.get(call.proc as usize).map(String::as_str);
            let texts = [
                ("outcome", outcome_word(call.outcome)),
                ("proc", name.unwrap_or("")),
            ];
            for (field, got) in texts {
                if let Some(expected) = expected.get(field) {
                    let expected = expected.as_str().unwrap_or("a number");
                    self.same(&format!("{place}.{field}"), expected, got);
                }
            }
            let known = |field: &String| {
                fields.iter().any(|(name, _)| name == field)
                    || texts.iter().any(|(name, _)| name == field)
            };
            let keys = expected.as_object().into_iter().flat_map(Map::keys);
            self.unknown(&place, keys.filter(|field| !known(field)));
        }
    }

    fn edges(&mut self, got: &Got<'_>) {
        let Some(expected) = self.vector.expect.get("edges").and_then(Value::as_array) else {
            return;
        };
        let mut wanted = BTreeMap::new();
        for edge in expected {
            let text = |key: &str| edge[key].as_str().unwrap_or_default();
            let number = |key: &str| edge[key].as_u64().unwrap_or_default();
            let name = format!("{}({},{})", text("kind"), text("parent"), text("child"));
            wanted.insert(name, (number("n"), number("ns")));
        }
        let mut found = BTreeMap::new();
        for (child, proc) in got.aggregate.procs.iter().enumerate() {
            for (&parent, edge) in &proc.edges {
                let pair = format!("({},{})", got.name(parent), got.name(child as u32));
                for (kind, n, ns) in [
                    ("await", edge.polls, edge.hold),
                    ("create", edge.created, edge.offspring),
                ] {
                    if n > 0 {
                        found.insert(format!("{kind}{pair}"), (n, ns));
                    }
                }
            }
        }
        let names: BTreeSet<&String> = wanted.keys().chain(found.keys()).collect();
        for name in names {
            self.compared += 1;
            let (wanted, found) = (wanted.get(name), found.get(name));
            if wanted != found {
                let shown = |edge: Option<&(u64, u64)>| {
                    shown(edge.map(|(n, ns)| format!("{n} times, {ns} ns")))
                };
                self.differ(&format!("edges.{name}"), shown(wanted), shown(found));
            }
        }
    }
}
