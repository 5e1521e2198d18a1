//! Every occupancy vector through the ledger that the live process uses: all numbers, all groups.

mod check;

use check::{Check, Got, event};
use serde_json::Value;
use turbowish_model::replay::{Event, Outcome, Replay, Standing};

fn calls(check: &mut Check<'_>, expected: &Value, outcome: &Outcome, now: u64) {
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
            check.equal(&format!("call {id}.{field}"), &expected[field], got);
        }
        let standing = match call.standing {
            Standing::Live => "live",
            Standing::Ready => "ready",
            Standing::Cancelled => "cancelled",
            Standing::Panicked => "panicked",
        };
        check.compared += 1;
        if expected["outcome"] != standing {
            check.mismatches.push(format!(
                "{}: call {id}: {} but {standing}",
                check.vector, expected["outcome"]
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
        let got = Got {
            tally: &outcome.tally,
            procs: &outcome.procs,
            window: outcome.window,
        };
        check.totals(expect, &got);
        calls(&mut check, &expect["calls"], &outcome, now);
        for (thread, expected) in expect["busy"].as_object().expect("busy") {
            check.equal(
                "busy",
                expected,
                outcome.busy[&thread.parse::<u64>().expect("thread")],
            );
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
