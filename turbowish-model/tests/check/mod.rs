//! Compares totals with the numbers of an occupancy vector.

use serde_json::Value;
use turbowish_model::call::PollEnd;
use turbowish_model::histogram::upper_bound;
use turbowish_model::replay::{Event, Kind};
use turbowish_model::row::{Population, Sum};
use turbowish_model::tally::{ProcTally, Tally};

/// One event of a vector; `None` for those that do not move any time.
pub(crate) fn event(value: &Value) -> Option<Event> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let number = |key: &str| value[key].as_u64().expect("an unsigned integer");
    let kind = match value["k"].as_str().expect("k") {
        "create" => Kind::Create(text("proc").expect("proc")),
        "poll_start" => Kind::PollStart {
            proc: text("proc"),
            root: value["root"] == true,
        },
        "poll_end" => Kind::PollEnd(match value["r"].as_str().expect("r") {
            "pending" => PollEnd::Pending,
            "ready" => PollEnd::Ready,
            "panic" => PollEnd::Panic,
            "drop" => PollEnd::Torn,
            other => panic!("unknown end {other}"),
        }),
        "drop" => Kind::Drop,
        // Wake-ups do not move any time of the ledger.
        "wake" => return None,
        other => panic!("unknown event {other}"),
    };
    Some(Event {
        t: number("t"),
        thread: number("th"),
        id: number("id"),
        kind,
    })
}

/// `exact <= reported <= exact * 1.032` from the buckets alone, `exact` for the maximum.
fn percentile(proc: &ProcTally, population: Population, percent: u64) -> Option<(u64, u64)> {
    let buckets = &proc.populations[population as usize];
    let n = buckets.total();
    let rank = (percent * n).div_ceil(100).max(1);
    let mut seen = 0;
    buckets.iter().find_map(|(bucket, count)| {
        seen += count;
        (seen >= rank).then(|| (upper_bound(usize::from(bucket)), proc.peak(population)))
    })
}

/// Totals to compare, by proc id.
pub(crate) struct Got<'a> {
    pub(crate) tally: &'a Tally,
    pub(crate) procs: &'a [String],
    pub(crate) window: u64,
}

/// Compares and remembers what differs.
pub(crate) struct Check<'a> {
    pub(crate) vector: &'a str,
    pub(crate) mismatches: Vec<String>,
    pub(crate) compared: usize,
}

impl Check<'_> {
    pub(crate) fn equal(&mut self, field: &str, expected: &Value, got: u64) {
        self.compared += 1;
        if expected.as_u64() != Some(got) {
            self.mismatches.push(format!(
                "{}: {field}: expected {expected}, got {got}",
                self.vector
            ));
        }
    }

    fn population(
        &mut self,
        name: &str,
        expected: &Value,
        proc: &ProcTally,
        population: Population,
    ) {
        self.equal(
            &format!("{name}.n"),
            &expected["n"],
            proc.populations[population as usize].total(),
        );
        for (key, percent) in [
            ("p50", 50),
            ("p90", 90),
            ("p95", 95),
            ("p99", 99),
            ("p100", 100),
        ] {
            self.compared += 1;
            let exact = expected[key].as_u64();
            let fits = match (exact, percentile(proc, population, percent)) {
                (None, None) => true,
                (Some(exact), Some((_, max))) if percent == 100 => exact == max,
                (Some(exact), Some((reported, max))) => {
                    let reported = reported.min(max);
                    reported >= exact && u128::from(reported) * 1000 <= u128::from(exact) * 1032
                }
                _ => false,
            };
            if !fits {
                let got = percentile(proc, population, percent);
                self.mismatches.push(format!(
                    "{}: {name}.{key}: expected {exact:?}, got {got:?}",
                    self.vector
                ));
            }
        }
    }

    fn proc(&mut self, name: &str, expected: &Value, proc: &ProcTally, got: &Got<'_>, id: u32) {
        let (wall, unstarted, hold) = (
            proc.sum(Sum::Wall),
            proc.sum(Sum::Unstarted),
            proc.sum(Sum::Hold),
        );
        let (running, foreign) = (proc.sum(Sum::Running), proc.sum(Sum::Foreign));
        let in_child = hold - foreign - running;
        let offspring = got
            .tally
            .procs
            .iter()
            .filter_map(|other| other.edges.get(&id))
            .map(|edge| edge.offspring);
        let ppm = u128::from(running) * 1_000_000 / u128::from(got.window).max(1);
        let fields = [
            ("running", running),
            ("inclusive", proc.sum(Sum::Inclusive)),
            ("calls", proc.sum(Sum::Calls)),
            ("polls", proc.sum(Sum::Polls)),
            ("live", proc.live()),
            ("ready", proc.sum(Sum::Ready)),
            ("cancelled", proc.sum(Sum::Cancelled)),
            ("panicked", proc.sum(Sum::Panicked)),
            ("never_polled", proc.sum(Sum::NeverPolled)),
            ("hold", hold),
            ("wall", wall),
            ("unstarted", unstarted),
            ("yielded", proc.yielded()),
            ("in_child", in_child),
            ("foreign", foreign),
            ("paused", proc.yielded() + in_child + foreign),
            ("inclusive_sum", hold - foreign),
            ("max_call_running", proc.peak(Population::CallRunning)),
            ("max_poll", proc.longest()),
            ("occupancy_ppm", ppm as u64),
            ("offspring", offspring.sum()),
        ];
        for (field, got) in fields {
            self.equal(&format!("{name}.{field}"), &expected[field], got);
        }
        for (field, population) in [
            ("call_running", Population::CallRunning),
            ("call_inclusive", Population::CallInclusive),
            ("poll_hold", Population::PollHold),
            ("poll_running", Population::PollRunning),
        ] {
            self.population(
                &format!("{name}.{field}"),
                &expected[field],
                proc,
                population,
            );
        }
    }

    fn edges(&mut self, expected: &Value, got: &Got<'_>) {
        let mut wanted = Vec::new();
        for edge in expected.as_array().into_iter().flatten() {
            let text = |key: &str| edge[key].as_str().expect("text").to_owned();
            let number = |key: &str| edge[key].as_u64().expect("number");
            wanted.push((
                text("kind"),
                text("parent"),
                text("child"),
                number("n"),
                number("ns"),
            ));
        }
        let mut found = Vec::new();
        for (child, proc) in got.tally.procs.iter().enumerate() {
            for (&parent, edge) in &proc.edges {
                let names = (got.procs[parent as usize].clone(), got.procs[child].clone());
                for (kind, n, ns) in [
                    ("await", edge.polls, edge.hold),
                    ("create", edge.created, edge.offspring),
                ] {
                    if n > 0 {
                        found.push((kind.to_owned(), names.0.clone(), names.1.clone(), n, ns));
                    }
                }
            }
        }
        wanted.sort();
        found.sort();
        self.compared += wanted.len();
        if wanted != found {
            self.mismatches.push(format!(
                "{}: edges: expected {wanted:?}, got {found:?}",
                self.vector
            ));
        }
    }

    /// All of a vector's `expect` that totals can answer: procs, edges, anomalies.
    pub(crate) fn totals(&mut self, expect: &Value, got: &Got<'_>) {
        for (name, expected) in expect["procs"].as_object().expect("procs") {
            let id = got
                .procs
                .iter()
                .position(|proc| proc == name)
                .expect("a known proc");
            self.proc(name, expected, &got.tally.procs[id], got, id as u32);
        }
        self.edges(&expect["edges"], got);
        for (kind, name) in ["late_attach", "orphan_end", "forced_pop", "clock_backwards"]
            .iter()
            .enumerate()
        {
            let expected = expect["anomalies"]
                .get(name)
                .cloned()
                .unwrap_or_else(|| 0.into());
            self.equal(name, &expected, got.tally.anomalies[kind]);
        }
    }
}
