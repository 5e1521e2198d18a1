//! Every occupancy vector through the ledger that the live process uses: all numbers, all groups.

use serde_json::Value;
use turbowish_model::call::PollEnd;
use turbowish_model::histogram::upper_bound;
use turbowish_model::replay::{Event, Kind, Outcome, Replay, Standing};
use turbowish_model::row::{Population, Sum};
use turbowish_model::tally::ProcTally;

fn event(value: &Value) -> Option<Event> {
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

struct Check<'a> {
    vector: &'a str,
    mismatches: Vec<String>,
    compared: usize,
}

impl Check<'_> {
    fn equal(&mut self, field: &str, expected: &Value, got: u64) {
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

    fn proc(&mut self, name: &str, expected: &Value, proc: &ProcTally, outcome: &Outcome, id: u32) {
        let (wall, unstarted, hold) = (
            proc.sum(Sum::Wall),
            proc.sum(Sum::Unstarted),
            proc.sum(Sum::Hold),
        );
        let (running, foreign) = (proc.sum(Sum::Running), proc.sum(Sum::Foreign));
        let in_child = hold - foreign - running;
        let offspring = outcome
            .tally
            .procs
            .iter()
            .filter_map(|other| other.edges.get(&id))
            .map(|edge| edge.offspring);
        let ppm = u128::from(running) * 1_000_000 / u128::from(outcome.window).max(1);
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

    fn calls(&mut self, expected: &Value, outcome: &Outcome, now: u64) {
        for (id, expected) in expected.as_object().into_iter().flatten() {
            let call = &outcome.calls[&id.parse::<u64>().expect("id")];
            let end = call.ended.unwrap_or(now);
            let wall = end - call.created;
            let unstarted = call.first.unwrap_or(end) - call.created;
            let charge = &call.charge;
            let yielded = wall - unstarted - charge.hold;
            for (field, got) in [
                ("running", charge.running),
                ("inclusive", charge.inclusive),
                ("hold", charge.hold),
                ("wall", wall),
                ("unstarted", unstarted),
                ("polls", call.polls),
                ("in_child", charge.inclusive - charge.running),
                ("foreign", charge.hold - charge.inclusive),
                ("yielded", yielded),
                ("paused", yielded + charge.hold - charge.running),
            ] {
                self.equal(&format!("call {id}.{field}"), &expected[field], got);
            }
            let standing = match call.standing {
                Standing::Live => "live",
                Standing::Ready => "ready",
                Standing::Cancelled => "cancelled",
                Standing::Panicked => "panicked",
            };
            self.compared += 1;
            if expected["outcome"] != standing {
                self.mismatches.push(format!(
                    "{}: call {id}: {} but {standing}",
                    self.vector, expected["outcome"]
                ));
            }
        }
    }

    fn edges(&mut self, expected: &Value, outcome: &Outcome) {
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
        let mut got = Vec::new();
        for (child, proc) in outcome.tally.procs.iter().enumerate() {
            for (&parent, edge) in &proc.edges {
                let names = (
                    outcome.procs[parent as usize].clone(),
                    outcome.procs[child].clone(),
                );
                for (kind, n, ns) in [
                    ("await", edge.polls, edge.hold),
                    ("create", edge.created, edge.offspring),
                ] {
                    if n > 0 {
                        got.push((kind.to_owned(), names.0.clone(), names.1.clone(), n, ns));
                    }
                }
            }
        }
        wanted.sort();
        got.sort();
        self.compared += wanted.len();
        if wanted != got {
            self.mismatches.push(format!(
                "{}: edges: expected {wanted:?}, got {got:?}",
                self.vector
            ));
        }
    }
}

fn check_file(text: &str) -> (usize, usize, Vec<String>) {
    let file: Value = serde_json::from_str(text).expect("JSON");
    let vectors = file["vectors"].as_array().expect("vectors");
    let (mut compared, mut mismatches) = (0, Vec::new());
    for vector in vectors {
        let events: Vec<Event> = vector["events"]
            .as_array()
            .expect("events")
            .iter()
            .filter_map(event)
            .collect();
        let mut replay = Replay::default();
        events.iter().for_each(|event| replay.event(event));
        let last = events.iter().map(|event| event.t).max().expect("an event");
        let now = vector["now"].as_u64().unwrap_or(last);
        let outcome = replay.finish(Some(now));
        let mut check = Check {
            vector: vector["name"].as_str().expect("name"),
            mismatches: Vec::new(),
            compared: 0,
        };
        let expect = &vector["expect"];
        for (name, expected) in expect["procs"].as_object().expect("procs") {
            let id = outcome
                .procs
                .iter()
                .position(|proc| proc == name)
                .expect("a replayed proc");
            check.proc(
                name,
                expected,
                &outcome.tally.procs[id],
                &outcome,
                id as u32,
            );
        }
        check.calls(&expect["calls"], &outcome, now);
        for (thread, expected) in expect["busy"].as_object().expect("busy") {
            check.equal(
                "busy",
                expected,
                outcome.busy[&thread.parse::<u64>().expect("thread")],
            );
        }
        check.edges(&expect["edges"], &outcome);
        for (kind, name) in ["late_attach", "orphan_end", "forced_pop", "clock_backwards"]
            .iter()
            .enumerate()
        {
            let expected = expect["anomalies"]
                .get(name)
                .cloned()
                .unwrap_or_else(|| 0.into());
            check.equal(name, &expected, outcome.tally.anomalies[kind]);
        }
        compared += check.compared;
        mismatches.extend(check.mismatches);
    }
    (vectors.len(), compared, mismatches)
}

#[test]
fn all_vectors_agree() {
    let (vectors, compared, mismatches) = check_file(include_str!("occupancy-vectors.json"));
    assert!(
        mismatches.is_empty(),
        "{} mismatches:\n{}",
        mismatches.len(),
        mismatches.join("\n")
    );
    assert_eq!(vectors, 40);
    assert!(compared > 3000, "only {compared} numbers were compared");
}

#[test]
fn a_wrong_number_is_found() {
    let text =
        include_str!("occupancy-vectors.json").replacen("\"running\": 11", "\"running\": 12", 1);
    assert_ne!(text, include_str!("occupancy-vectors.json"));
    assert_eq!(check_file(&text).2.len(), 1);
}
