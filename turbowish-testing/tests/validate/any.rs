//! Any stream is taken; what it says of polls is what a replay counts, and what it has to forget it
//! believes.

use proptest::collection::vec;
use proptest::prelude::{
    Just, ProptestConfig, Strategy, any, prop_assert_eq, prop_oneof, proptest,
};
use proptest::test_runner::RngSeed;
use turbowish_model::account::aggregate::Anomaly;
use turbowish_model::account::call::PollEnd;
use turbowish_model::account::resource::{Kind, Role, Strength};
use turbowish_model::event::{
    CallEvent, ConsoleEvent, Event, EventKind, IntentEvent, ResourceClaim, ResourceEvent,
    TaskEvent, UserEvent,
};
use turbowish_testing::check;
use turbowish_testing::replay::Replay;
use turbowish_testing::streams::call_event;
use turbowish_testing::validate::{LIMIT, Rule, Validator};

use super::reports;

fn id() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0u64..4, 1 => any::<u64>()]
}

fn call() -> impl Strategy<Value = EventKind> {
    (id(), call_event(2)).prop_map(|(id, kind)| EventKind::Call { id, kind })
}

fn task() -> impl Strategy<Value = EventKind> {
    let kind = prop_oneof![
        id().prop_map(|root| TaskEvent::Begin { root }),
        Just(TaskEvent::Cloned),
        Just(TaskEvent::Dropped),
        Just(TaskEvent::Woken),
        Just(TaskEvent::End),
    ];
    (id(), kind).prop_map(|(id, kind)| EventKind::Task { id, kind })
}

fn resource() -> impl Strategy<Value = EventKind> {
    let role = prop_oneof![Just(Role::Lock), Just(Role::Read), Just(Role::Acquire)];
    let claim = (id(), id(), role, id(), any::<bool>());
    let claim = claim.prop_map(|(ticket, task, role, amount, waits)| {
        let claim = ResourceClaim {
            ticket,
            task,
            role,
            amount,
        };
        if waits {
            ResourceEvent::Wait(claim)
        } else {
            ResourceEvent::Taken(claim)
        }
    });
    let kinds = prop_oneof![
        Just(Kind::Mutex),
        Just(Kind::RwLock),
        Just(Kind::Mpsc),
        Just(Kind::Watch)
    ];
    let kind = prop_oneof![
        1 => (kinds, proptest::option::of(id()))
            .prop_map(|(kind, capacity)| ResourceEvent::Made { kind, capacity }),
        2 => claim,
        1 => id().prop_map(|ticket| ResourceEvent::Left { ticket }),
        1 => id().prop_map(|ticket| ResourceEvent::Released { ticket }),
        1 => id().prop_map(|items| ResourceEvent::Put { items }),
        1 => id().prop_map(|items| ResourceEvent::Took { items }),
        1 => Just(ResourceEvent::Closed),
        1 => Just(ResourceEvent::Dropped),
    ];
    (id(), kind).prop_map(|(id, kind)| EventKind::Resource { id, kind })
}

fn other() -> impl Strategy<Value = EventKind> {
    let strength = prop_oneof![Just(Strength::Will), Just(Strength::May)];
    let intent = prop_oneof![
        (id(), id(), strength).prop_map(|(task, resource, strength)| IntentEvent::Made {
            task,
            resource,
            role: Role::Lock,
            strength,
        }),
        Just(IntentEvent::Sure),
        Just(IntentEvent::Done),
        Just(IntentEvent::Gone),
    ];
    let user = prop_oneof![
        id().prop_map(|by| UserEvent::Count { by }),
        any::<i64>().prop_map(|value| UserEvent::Gauge { value }),
        any::<u32>().prop_map(|value| UserEvent::Attribute { value }),
    ];
    let console = prop_oneof![
        4 => Just(ConsoleEvent::Connect),
        1 => Just(ConsoleEvent::Disconnect),
        1 => Just(ConsoleEvent::Query),
        1 => id().prop_map(|calls| ConsoleEvent::Reply { calls }),
        1 => Just(ConsoleEvent::Arm),
        1 => Just(ConsoleEvent::Disarm),
        1 => id().prop_map(|task| ConsoleEvent::Pause { task }),
        1 => id().prop_map(|task| ConsoleEvent::Resume { task }),
    ];
    prop_oneof![
        (id(), intent).prop_map(|(id, kind)| EventKind::Intent { id, kind }),
        (prop_oneof![0u32..2, any::<u32>()], user)
            .prop_map(|(name, kind)| EventKind::User { name, kind }),
        (id(), console).prop_map(|(client, kind)| EventKind::Console { client, kind }),
    ]
}

fn event(kind: impl Strategy<Value = EventKind>) -> impl Strategy<Value = Event> {
    let t = prop_oneof![any::<u64>(), 0u64..100];
    (t, id(), kind).prop_map(|(t, thread, kind)| Event { t, thread, kind })
}

/// What a replay counts, in the validator's words: unknown when polled, orphans, forced ends,
/// clocks back.
fn counted(events: &[Event]) -> [u64; 4] {
    let told = reports(events);
    let started = |nth: u64| {
        let call = events[nth as usize - 1].call();
        matches!(call, Some((_, CallEvent::PollStart { .. })))
    };
    let count = |rule: Rule| told.iter().filter(|report| report.rule == rule).count() as u64;
    let unknown = told
        .iter()
        .filter(|report| report.rule == Rule::UnknownCall && started(report.nth));
    [
        unknown.count() as u64,
        count(Rule::OrphanEnd),
        count(Rule::ForcedEnd),
        count(Rule::TimeBack),
    ]
}

fn replayed(events: &[Event]) -> [u64; 4] {
    let mut replay = Replay::default();
    events.iter().for_each(|event| replay.event(event));
    let anomalies = replay.finish(None).aggregate.anomalies;
    [
        Anomaly::LateAttach,
        Anomaly::OrphanEnd,
        Anomaly::ForcedPop,
        Anomaly::ClockBackwards,
    ]
    .map(|kind| anomalies[kind as usize])
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        rng_seed: RngSeed::Fixed(2026),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn any_stream_is_taken(
        events in vec(event(prop_oneof![call(), task(), resource(), other()]), 0..150),
    ) {
        let told = reports(&events);
        // The same stream again, and the same is told.
        prop_assert_eq!(reports(&events), told);
    }

    #[test]
    fn a_replay_counts_the_same(events in vec(event(call()), 0..80)) {
        prop_assert_eq!(counted(&events), replayed(&events));
    }
}

#[test]
fn the_vectors_have_the_anomalies_that_they_say() {
    let mut torn = Vec::new();
    for file in [
        include_str!("../../../turbowish-model/tests/occupancy-vectors.json"),
        include_str!("../../../turbowish-model/tests/odd-vectors.json"),
    ] {
        for vector in check::read(file).expect("vectors") {
            let events = vector.events;
            let counted = counted(&events);
            assert_eq!(counted, replayed(&events), "{}", vector.name);
            let said = vector.expect.get("anomalies");
            let said = |name: &str| {
                let count = said.and_then(|said| said.get(name));
                count.and_then(serde_json::Value::as_u64).unwrap_or(0)
            };
            let names = ["late_attach", "orphan_end", "forced_pop", "clock_backwards"];
            if vector.expect.contains_key("anomalies") {
                assert_eq!(counted, names.map(said), "{}", vector.name);
            }
            let told = reports(&events);
            if vector.name.starts_with("attach_") {
                let rules = told.iter().map(|report| report.rule.row().id);
                torn.push((vector.name, rules.collect::<Vec<_>>().join(" ")));
            }
        }
    }
    let torn: Vec<(&str, &str)> = torn.iter().map(|(name, ids)| (&**name, &**ids)).collect();
    assert_eq!(
        torn,
        [
            ("attach_mid_run_between_polls", "unknown_call"),
            ("attach_mid_poll", "orphan_end unknown_call"),
        ]
    );
}

/// Takes calls' events; returns how many reports there were.
fn feed(validator: &mut Validator, id: u64, kind: CallEvent) -> usize {
    let (t, thread) = (1, 1);
    let kind = EventKind::Call { id, kind };
    let mut told = 0;
    validator.event(&Event { t, thread, kind }, &mut |_| told += 1);
    told
}

#[test]
fn what_does_not_fit_is_believed() {
    let mut validator = Validator::default();
    let (proc, root) = (None, false);
    let start = CallEvent::PollStart { proc, root };
    let end = CallEvent::PollEnd(PollEnd::Pending);
    assert_eq!(feed(&mut validator, u64::MAX, start), 1);
    for id in 0..LIMIT as u64 + 100 {
        assert_eq!(feed(&mut validator, id, CallEvent::Create { proc: 0 }), 0);
    }
    // One that fitted is held to the rules, one that did not is not.
    assert_eq!(feed(&mut validator, 0, end), 1);
    let beyond = LIMIT as u64 + 50;
    for kind in [start, start, end, end, CallEvent::Drop] {
        assert_eq!(feed(&mut validator, beyond, kind), 0);
    }
    // What has ended makes room.
    for id in 0..LIMIT as u64 {
        assert_eq!(feed(&mut validator, id, CallEvent::Drop), 0);
    }
    for id in 0..LIMIT as u64 {
        feed(&mut validator, 1 << 40 | id, CallEvent::Create { proc: 0 });
    }
    assert_eq!(
        feed(
            &mut validator,
            1 << 40 | (LIMIT as u64 - 1),
            CallEvent::PollEnd(PollEnd::Ready)
        ),
        1
    );
}

#[test]
fn threads_beyond_the_limit_are_not_looked_at() {
    let mut validator = Validator::default();
    let mut told = 0;
    for thread in 0..5000 {
        let kind = CallEvent::PollEnd(PollEnd::Pending);
        let kind = EventKind::Call { id: 1, kind };
        validator.event(&Event { t: 1, thread, kind }, &mut |_| told += 1);
    }
    assert_eq!((told, validator.unseen()), (1 << 12, 5000 - (1 << 12)));
}
