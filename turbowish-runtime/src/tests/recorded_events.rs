//! What a recorder gets of a thread beside its polls.

use std::sync::Arc;

use turbowish_model::account::event_ring::{EventFact, EventRecord, ResourceUse};
use turbowish_model::account::resource::Role;

use super::delays::Turns;
use super::stage::{advance, alone};
use super::wakers::armed;
use crate::hot::call::{at, call};
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::hot::thread;
use crate::metrics;
use crate::sync::{Mutex, Semaphore};

static HOLD: Proc = Proc::new::<Turns>("::holds", "1 recorded_events.rs");
static WAIT: Proc = Proc::new::<Turns>("::waits", "2 recorded_events.rs");

const MS: u64 = 1_000_000;

/// The events of a new thread that runs `f` while a recorder would read them.
fn recorded(f: impl FnOnce() + Send) -> Vec<EventRecord> {
    let _alone = alone();
    let _monitor = armed();
    thread::keep_polls(256, None);
    drop(thread::take_polls());
    std::thread::scope(|scope| {
        scope.spawn(f).join().expect("no panic");
    });
    thread::keep_polls(0, None);
    let mut events = Vec::new();
    for thread in thread::take_polls() {
        let (_, lost) = thread.events.read(0, |event| events.push(event));
        assert_eq!(lost, 0);
    }
    events
}

fn block_on(future: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(future);
}

#[test]
fn long_waits_and_holds_are_recorded_when_they_end_and_short_ones_are_not() {
    let events = recorded(|| {
        block_on(async {
            let lock = Arc::new(Mutex::new(0));
            let (first, second) = (lock.clone(), lock.clone());
            let hold = call(HOLD.as_static(), Other, async move {
                // Too short to be recorded.
                drop(at(&HOLD, 1, first.lock()).await);
                let mut held = at(&HOLD, 2, first.lock()).await;
                tokio::task::yield_now().await;
                advance(7 * MS);
                *held += 1;
            });
            let wait = call(WAIT.as_static(), Other, async move {
                *at(&WAIT, 1, second.lock()).await += 1;
            });
            let both = (tokio::spawn(hold), tokio::spawn(wait));
            both.0.await.expect("no panic");
            both.1.await.expect("no panic");
            let permits = Semaphore::new(3);
            let held = permits.acquire_many(2).await.expect("open");
            advance(2 * MS);
            drop(held);
        });
    });
    let used = |event: &EventRecord| match event.fact {
        EventFact::Held(of) => ("held", of.role, of.amount, of.ticks),
        EventFact::Waited { of, served: true } => ("waited", of.role, of.amount, of.ticks),
        other => panic!("{other:?}"),
    };
    let found: Vec<_> = events.iter().map(used).collect();
    assert_eq!(
        found,
        [
            ("held", Role::Lock, 1, 7 * MS),
            ("waited", Role::Lock, 1, 7 * MS),
            ("held", Role::Acquire, 2, 2 * MS),
        ]
    );
    let [held, waited, permits] = &events[..] else {
        panic!("three events");
    };
    let resource = |event: &EventRecord| match event.fact {
        EventFact::Held(ResourceUse { resource, .. })
        | EventFact::Waited {
            of: ResourceUse { resource, .. },
            ..
        } => resource,
        EventFact::User { .. } => 0,
    };
    assert_eq!(resource(held), resource(waited));
    assert_ne!(resource(held), resource(permits));
    assert!(held.task != 0 && waited.task != 0 && held.task != waited.task);
    assert_eq!(permits.task, 0);
    assert_eq!(permits.at - waited.at, 2 * MS);
}

#[test]
fn the_programs_own_events_have_their_names_numbers_and_tasks() {
    let mut places = 0;
    metrics::new_events(&mut places);
    let events = recorded(|| {
        block_on(async {
            let mark = call(HOLD.as_static(), Other, async {
                crate::event!("begin");
                advance(3 * MS);
                crate::event!("cache.miss", key = 5_u8, bytes = -6_i64, of = 7_usize);
                // It does not fit.
                crate::event!("large", key = u64::MAX);
            });
            tokio::spawn(mark).await.expect("no panic");
            crate::event!("outside", one = 1);
        });
    });
    let known = metrics::new_events(&mut places);
    let event = |record: &EventRecord| {
        let EventFact::User { site, values } = record.fact else {
            panic!("{record:?}");
        };
        let (_, words) = known.iter().find(|(number, _)| *number == site)?;
        let has_task = record.task != 0;
        Some((words.name, words.keys, values, has_task))
    };
    let found: Vec<_> = events.iter().map(event).collect();
    assert_eq!(
        found,
        [
            Some(("begin", &[][..], [0; 4], true)),
            Some((
                "cache.miss",
                &["key", "bytes", "of"][..],
                [5, -6, 7, 0],
                true
            )),
            Some(("outside", &["one"][..], [1, 0, 0, 0], false)),
        ]
    );
    assert_eq!(events[1].at - events[0].at, 3 * MS);
    let place = known[0].1.place;
    assert!(place.file().ends_with("recorded_events.rs"), "{place}");
}
