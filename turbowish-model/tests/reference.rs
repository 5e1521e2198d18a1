//! The ledger against a second accountant, on thousands of random streams, such as programs make
//! and torn ones.

use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_assert, prop_oneof, proptest};
use proptest::test_runner::RngSeed;
use serde_json::json;
use turbowish_model::account::counters::Sum;
use turbowish_model::event::{Event, EventKind};
use turbowish_testing::accountant::vector;
use turbowish_testing::check;
use turbowish_testing::replay::Replay;
use turbowish_testing::streams::{Manner, awaits, call_event, moves, stream, written};

/// As in every run: what fails once fails again.
const SEED: RngSeed = RngSeed::Fixed(2026);
/// Unix time in nanoseconds: more than an `f64` holds.
const TODAY: u64 = 1_763_672_874_000_000_001;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: SEED,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn mismatches(file: &str) -> Vec<String> {
    let checked = check::check_text(file).expect("in the format");
    checked.mismatches.iter().map(ToString::to_string).collect()
}

proptest! {
    #![proptest_config(config(3000))]
    #[test]
    fn two_accountants_agree(
        moves in moves(),
        manner in prop_oneof![
            Just(None),
            Just(Some(Manner::Program)),
            Just(Some(Manner::Apart)),
            Just(Some(Manner::Torn)),
        ],
        start in prop_oneof![Just(0), Just(TODAY)],
        later in prop_oneof![Just(None), any::<u16>().prop_map(Some)],
    ) {
        let events = match manner {
            None => awaits(&moves, start),
            Some(manner) => stream(&moves, manner, start),
        };
        let last = events.iter().map(|event| event.t).max().unwrap_or(start);
        let file = vector(&events, later.map(|later| last + u64::from(later)));
        let mismatches = mismatches(&file);
        prop_assert!(mismatches.is_empty(), "{}\n{file}", mismatches.join("\n"));
    }
}

fn anything() -> impl Strategy<Value = Event> {
    let t = prop_oneof![any::<u64>(), 0u64..100, (u64::MAX - 100)..=u64::MAX];
    (t, 0u64..3, 0u64..5, call_event(3)).prop_map(|(t, thread, id, kind)| Event {
        t,
        thread,
        kind: EventKind::Call { id, kind },
    })
}

proptest! {
    #![proptest_config(config(1500))]
    #[test]
    fn nothing_that_is_read_stops_a_replay(
        events in vec(anything(), 0..60),
        now in prop_oneof![Just(None), any::<u64>().prop_map(Some)],
    ) {
        let file = json!({"vectors": [{
            "name": "any", "events": written(&events), "now": now, "expect": {"procs": {"a": {"calls": 0}}},
        }]});
        mismatches(&file.to_string());
        let mut replay = Replay::default();
        events.iter().for_each(|event| replay.event(event));
        let outcome = replay.finish(None);
        let running = outcome.aggregate.procs.iter().map(|proc| u128::from(proc.sum(Sum::Running)));
        let busy = outcome.busy.values().map(|&busy| u128::from(busy));
        // Times of up to three threads, each of the whole range, need not fit one word.
        prop_assert!(running.sum::<u128>() as u64 == busy.sum::<u128>() as u64);
    }
}
