//! Plays the vectors as programs: `async fn`s with the attribute, awaits, boxes, joins, threads,
//! and a clock set by hand.
//!
//! [`Program::of`] turns a vector into what each call's body and each thread does. A body creates
//! its children by calling their functions. It awaits a child where it calls it, if the child is
//! polled whenever the body is, at the same time: there one reading of the clock serves both. Else
//! something polls the child in which time passes, as in a `join!`, a `select!`, or below a future
//! that is not annotated. Threads play their events as real threads, in the order of the vector.
//!
//! Not played as written are frames that are torn down without a result and without unwinding:
//! those programs pend and are dropped at the same time, which comes to the same numbers. What no
//! program does at all, and why, is listed in the test, with what comes out if it is tried.

mod family;
mod program;
mod stage;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use proptest::prelude::{ProptestConfig, any, prop_assert, proptest};
use proptest::test_runner::RngSeed;
use turbowish_model::account::call::PollEnd;
use turbowish_model::event::{CallEvent, Event, EventKind};
use turbowish_testing::accountant;
use turbowish_testing::check::{self, Check, Got, Vector};
use turbowish_testing::streams::{Manner, awaits, moves, stream};

use self::program::{Actor, Program, unplayable};
use self::stage::{Part, Stage};
use super::stage::{EarlyBirths, alone, set_time};
use crate::hot::{clock, proc, switch, thread};
use crate::monitor::collector::Collector;

fn play(vector: &Vector, program: &Program) -> Vec<String> {
    let times = || vector.events.iter().map(|event| event.t);
    let (first, last) = (
        times().min().expect("an event"),
        times().max().expect("an event"),
    );
    let now = vector.now.unwrap_or(last);
    // What tests before this one left.
    thread::take_enrolled();
    let stage = Stage::new(&vector.events, program);
    let part = |actor| Part {
        stage: stage.clone(),
        actor,
    };
    set_time(first);
    for &(id, proc) in &program.before {
        part(Actor::Call(id)).create(id, proc, false);
    }
    if !program.arms_itself {
        switch::arm().expect("accounting was off");
    }
    let mut check = Check::new(vector);
    std::thread::scope(|scope| {
        for &thread in &program.threads {
            let part = part(Actor::Thread(thread));
            let named = std::thread::Builder::new().name(thread.to_string());
            let started = named.spawn_scoped(scope, move || {
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| part.run())) {
                    part.stage.fail();
                    resume_unwind(panic);
                }
            });
            started.expect("a thread");
        }
        stage.at_end(program.threads.len(), || {
            set_time(now);
            compare(&mut check, program, now - first);
        });
    });
    switch::disarm().expect("accounting was on");
    assert!(check.compared > 20);
    check.mismatches.iter().map(ToString::to_string).collect()
}

/// Compares the totals of what was armed last.
fn compare(check: &mut Check<'_>, program: &Program, window: u64) {
    let (totals, threads) = Collector::default().read(clock::ticks);
    let number = |path: &str| {
        let function = path.strip_prefix(concat!(module_path!(), "::family::p"))?;
        function.parse::<usize>().ok()
    };
    let name = |path: &str| program.procs.get(number(path)?).cloned();
    let procs = proc::all();
    let names: Vec<String> = procs
        .iter()
        .map(|proc| name(&proc.path).unwrap_or_default())
        .collect();
    check.totals(&Got {
        aggregate: &totals.aggregate,
        procs: &names,
        window,
    });
    let busy = threads.iter().map(|thread| {
        let name = thread.name.parse().expect("threads are named by number");
        (name, totals.busy[&thread.index])
    });
    check.busy(&busy.collect());
}

#[test]
fn programs_give_the_numbers_of_the_vectors() {
    let alone = alone();
    let _early = EarlyBirths::of(&alone);
    let text = include_str!("../../../turbowish-model/tests/occupancy-vectors.json");
    let (mut played, mut direct, mut left_out) = (0, 0, Vec::new());
    for vector in check::read(text).expect("vectors") {
        let program = Program::of(&vector);
        let mismatches = play(&vector, &program).join("\n");
        match unplayable(&vector) {
            Some(reason) => {
                assert!(!mismatches.is_empty(), "{} is playable", vector.name);
                left_out.push((vector.name, reason, mismatches));
            }
            None => {
                assert_eq!(mismatches, "");
                (played, direct) = (played + 1, direct + program.direct);
            }
        }
    }
    assert_eq!((played, direct), (39, 31));
    let left_out: Vec<String> = left_out
        .iter()
        .map(|(name, reason, mismatches)| format!("{name} {reason}:\n{mismatches}"))
        .collect();
    assert_eq!(left_out.join("\n"), LEFT_OUT);
}

/// Those of the other file that programs do: of wall times and waits.
#[test]
fn programs_give_the_wall_times_of_the_vectors() {
    let alone = alone();
    let _early = EarlyBirths::of(&alone);
    let text = include_str!("../../../turbowish-model/tests/odd-vectors.json");
    let all = check::read(text).expect("vectors");
    let walls = all.iter().filter(|vector| vector.name.starts_with("wall_"));
    let played = walls.map(|vector| {
        assert_eq!(unplayable(vector), None);
        let program = Program::of(vector);
        assert_eq!(play(vector, &program).join("\n"), "");
    });
    assert_eq!(played.count(), 4);
}

/// What no program does, why, and what comes out if it is tried.
const LEFT_OUT: &str = "\
attach_mid_poll counts the end of a poll that began before accounting was turned on:
attach_mid_poll: anomalies.orphan_end: expected 1, got 0";

fn is_torn(event: &Event) -> bool {
    matches!(event.call(), Some((_, CallEvent::PollEnd(PollEnd::Torn))))
}

/// What is torn down is played as a wait of no length.
fn forget_waits(vector: &mut Vector) {
    let procs = vector.expect.get_mut("procs");
    let procs = procs.and_then(|procs| procs.as_object_mut());
    for proc in procs.into_iter().flat_map(|procs| procs.values_mut()) {
        proc.as_object_mut()
            .expect("numbers of a proc")
            .remove("await_wait");
    }
}

/// Of a random stream, without what no program does.
fn check_random(events: Vec<Event>, later: u8) -> (usize, String) {
    let mut roots = BTreeMap::new();
    let mark = |mut event: Event| {
        if let EventKind::Call { id, kind } = &mut event.kind
            && let CallEvent::PollStart { root, .. } = kind
        {
            // A call that is marked is so in all of its polls.
            *root = *roots.entry(*id).or_insert(*root);
        }
        event
    };
    let events: Vec<Event> = events.into_iter().map(mark).collect();
    let Some(last) = events.iter().map(|event| event.t).max() else {
        return (0, String::new());
    };
    let file = accountant::vector(&events, Some(last + u64::from(later)));
    let mut vector = check::read(&file).expect("a vector").remove(0);
    if events.iter().any(is_torn) {
        forget_waits(&mut vector);
    }
    assert_eq!(unplayable(&vector), None);
    let program = Program::of(&vector);
    (program.direct, play(&vector, &program).join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        rng_seed: RngSeed::Fixed(2026),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn random_programs_give_the_numbers_of_the_second_accountant(moves in moves(), later in any::<u8>()) {
        let alone = alone();
        let _early = EarlyBirths::of(&alone);
        let (_, mismatches) = check_random(stream(&moves, Manner::Program, 0), later);
        prop_assert!(mismatches.is_empty(), "{mismatches}");
        let events = awaits(&moves, 0);
        let calls = events.iter().filter(|event| matches!(event.call(), Some((_, CallEvent::Create { .. })))).count();
        let (direct, mismatches) = check_random(events, later);
        prop_assert!(mismatches.is_empty(), "{mismatches}");
        // In a chain, all but its first call and those too deep are awaited where they are made.
        prop_assert!(direct * 8 >= calls.saturating_sub(8), "{direct} of {calls}");
    }
}
