//! Ledgers that are driven with the recorded events of calls come to the sums of the process, to
//! the tick.

use std::pin::{Pin, pin};
use std::task::{Context, Waker};

use turbowish_model::account::aggregate::Aggregate;
use turbowish_model::collect::call_events::{CallItem, CallRun, RecordedCalls};
use turbowish_model::collect::history::Totals;
use turbowish_model::event::CallEvent;
use turbowish_model::event::call_ring::CallRecord;
use turbowish_testing::replay::{Outcome, Replay};

use super::oracle::{read, same};
use super::stage::{OwnClock, advance, alone};
use crate::hot::thread::{self, ThreadCallLog};
use crate::monitor::Monitor;

/// The events of a thread, and how many are lost.
fn events(known: &ThreadCallLog) -> (Vec<CallRecord>, u64) {
    let mut events = Vec::new();
    let (_, lost) = known.log.ring.read(0, |event| events.push(event));
    (events, lost)
}

/// What was recorded since the last call, in order. Nothing of it is lost.
fn recorded() -> Vec<CallItem> {
    let ended = thread::take_call_ends();
    let mut calls = RecordedCalls::default();
    for known in thread::take_call_logs() {
        let (events, lost) = events(&known);
        assert_eq!(lost, 0);
        let mut ended = ended.iter().filter(|end| end.epoch == known.epoch);
        calls.add(CallRun {
            thread: known.index.into(),
            epoch: known.epoch,
            first: Some(0),
            ended: ended.next().map(|end| end.at),
            events,
            ..CallRun::default()
        });
    }
    calls.into_iter().collect()
}

/// Replays what was recorded up to an instant.
fn replay(items: &[CallItem], now: u64) -> Outcome {
    let mut replay = Replay::default();
    items.iter().for_each(|item| replay.item(item));
    replay.finish(Some(now))
}

/// Waits at each await point of these procs, and how they ended.
fn waits(aggregate: &Aggregate, ids: &[u32]) -> Vec<[u64; 6]> {
    let procs = (0..).zip(ids).filter_map(|(nth, id)| {
        let proc = aggregate.procs.get(*id as usize)?;
        Some((nth, proc))
    });
    let sites = procs.flat_map(|(nth, proc)| (0..).zip(&proc.sites).map(move |site| (nth, site)));
    let words = sites.map(|(nth, (at, site))| {
        let place: u64 = nth << 32 | at;
        let [waits, waited] = [site.waits, site.waited];
        [
            place,
            waits,
            waited,
            site.ended,
            site.longest,
            site.cancelled,
        ]
    });
    words.filter(|[_, words @ ..]| *words != [0; 5]).collect()
}

/// Compares the process with the replay of what was recorded since the last call. Returns the
/// number of events.
pub(super) fn compare(monitor: &Monitor) -> usize {
    let (totals, _) = monitor.totals();
    let items = recorded();
    same_sums(&totals, &items);
    items.len()
}

/// Compares totals of the process with the replay of what was recorded up to then.
fn same_sums(totals: &Totals, items: &[CallItem]) {
    let (live, now) = (&totals.aggregate, totals.at);
    let outcome = replay(items, now);
    let ids: Vec<u32> = (0..live.procs.len() as u32).collect();
    // The replay numbers the procs as they come.
    let place = |id: &u32| outcome.procs.iter().position(|known| *known == Some(*id));
    let places: Vec<u32> = ids
        .iter()
        .map(|id| place(id).map_or(u32::MAX, |place| place as u32))
        .collect();
    let replayed = &outcome.aggregate;
    let sums = [read(replayed, &places, false), read(live, &ids, false)];
    same("replayed", &sums[0], &sums[1]);
    assert_eq!(waits(replayed, &places), waits(live, &ids));
    assert_eq!(replayed.anomalies, live.anomalies);
    // The process adds up the threads that have ended.
    let busy: [u64; 2] = [outcome.busy.values().sum(), totals.busy.values().sum()];
    assert_eq!(busy[0], busy[1]);
}

/// A monitor that has armed accounting so that events of calls are recorded.
fn recording() -> Monitor {
    drop((thread::take_call_ends(), thread::take_call_logs()));
    let monitor = Monitor::new("replayed".to_owned());
    monitor.record_calls(true);
    monitor.arm();
    monitor
}

#[turbowish::instrument]
async fn work(steps: u32) -> u32 {
    let mut sum = 0;
    for step in 0..steps {
        sum += step;
        pause().await;
    }
    sum
}

#[turbowish::instrument]
async fn pause() {
    let mut is_first = true;
    std::future::poll_fn(|cx| {
        cx.waker().wake_by_ref();
        match std::mem::take(&mut is_first) {
            true => std::task::Poll::Pending,
            false => std::task::Poll::Ready(()),
        }
    })
    .await;
}

#[turbowish::instrument]
async fn both(steps: u32) -> u32 {
    let (one, other) = futures::future::join(work(steps), Box::pin(work(steps / 2))).await;
    let late = work(steps + 1);
    match futures::future::select(Box::pin(work(1)), Box::pin(late)).await {
        futures::future::Either::Left((first, _)) => one + other + first,
        futures::future::Either::Right((first, _)) => one + first,
    }
}

#[turbowish::instrument]
async fn chain(depth: u32) -> u32 {
    match depth {
        0 => both(3).await,
        _ => Box::pin(chain(depth - 1)).await + plain(depth),
    }
}

#[turbowish::instrument]
fn plain(depth: u32) -> u32 {
    depth.wrapping_mul(depth)
}

#[test]
fn a_program_on_many_threads_is_replayed_to_the_tick() {
    let alone = alone();
    let _clock = OwnClock::of(&alone);
    let monitor = recording();
    let threads = (0..4).map(|nth| {
        std::thread::spawn(move || {
            for _ in 0..20 {
                futures::executor::block_on(chain(nth));
                // Dropped before its first poll, and while it waits.
                drop(work(nth));
                let mut waits = pin!(work(3));
                poll(waits.as_mut());
            }
        })
    });
    threads
        .collect::<Vec<_>>()
        .into_iter()
        .for_each(|thread| thread.join().expect("no panic"));
    let count = compare(&monitor);
    assert!(count > 4 * 20 * 30, "{count} events");
    monitor.disarm();
}

/// A call may be polled on one thread after the other; the calls of two tasks may change places.
#[cfg(feature = "tokio")]
#[test]
fn tasks_that_change_their_threads_are_replayed_to_the_tick() {
    let alone = alone();
    let _clock = OwnClock::of(&alone);
    let monitor = recording();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let tasks: Vec<_> = (0..20).map(|nth| crate::spawn(chain(nth % 4))).collect();
        for task in tasks {
            task.await.expect("no panic");
        }
        crate::spawn(work(1_000)).abort();
    });
    drop(runtime);
    assert!(compare(&monitor) > 20 * 30);
    monitor.disarm();
}

fn poll(call: Pin<&mut impl Future>) {
    let polled = call.poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
}

/// Nothing is written while events of calls are not recorded, and no call has a number then.
#[test]
fn calls_are_recorded_only_while_that_is_asked_for() {
    let _alone = alone();
    drop(thread::take_call_logs());
    let monitor = Monitor::new("replayed".to_owned());
    monitor.arm();
    let mut earlier = Box::pin(work(3));
    poll(earlier.as_mut());
    assert!(thread::take_call_logs().is_empty());
    monitor.disarm();
    monitor.record_calls(true);
    monitor.arm();
    // A call of before is one whose creation was not seen.
    poll(earlier.as_mut());
    let mut later = Box::pin(work(5));
    poll(later.as_mut());
    let taken = thread::take_call_logs();
    let [own] = &taken[..] else {
        panic!("one thread: {taken:?}");
    };
    let before = events(own).0.len();
    assert!(before > 5);
    monitor.disarm();
    monitor.record_calls(false);
    monitor.arm();
    poll(later.as_mut());
    poll(earlier.as_mut());
    assert!(thread::take_call_logs().is_empty());
    assert_eq!(events(own).0.len(), before);
    // The monitor lets go of the ledger, since the thread has another one.
    drop(monitor.totals());
    assert!(own.is_over());
    monitor.disarm();
}

/// A call is known by its number also when all numbers were given out since, however often.
#[test]
fn a_call_is_known_after_all_numbers_were_given_out() {
    let _alone = alone();
    let monitor = recording();
    let mut call = Box::pin(work(9));
    for bits in [27, 28, 31, 32, 40] {
        poll(call.as_mut());
        thread::pass_numbers(1 << bits);
    }
    poll(call.as_mut());
    assert_eq!(monitor.totals().0.aggregate.anomalies, [0; 4]);
    drop(call);
    assert_eq!(monitor.totals().0.aggregate.anomalies, [0; 4]);
    monitor.disarm();
}

/// No event is recorded in vain: without any one of them, or at another time, the sums are others.
#[test]
fn each_event_counts() {
    let _alone = alone();
    let monitor = recording();
    let mut call = pin!(both(3));
    for _ in 0..4 {
        advance(7);
        poll(call.as_mut());
    }
    advance(3);
    let now = monitor.totals().0.at;
    let events = recorded();
    assert!(events.len() > 30);
    let ids: Vec<u32> = (0..8).collect();
    // Events that cannot be are noticed as such.
    let sums = |events: &[CallItem]| {
        let outcome = replay(events, now);
        let (sums, is_possible) = (&outcome.aggregate, outcome.aggregate.anomalies == [0; 4]);
        is_possible.then(|| (read(sums, &ids, false), waits(sums, &ids)))
    };
    let whole = sums(&events);
    assert!(whole.is_some());
    let is_arrival = |item: &CallItem| {
        let CallItem::Event { event, .. } = item else {
            return false;
        };
        matches!(event.call(), Some((_, CallEvent::Await { .. })))
    };
    for nth in 0..events.len() {
        let mut others = events.clone();
        others.remove(nth);
        // One that leads to where the call stands anyway tells nothing new.
        assert!(
            is_arrival(&events[nth]) || sums(&others) != whole,
            "without {:?}",
            events[nth]
        );
    }
    let none: Vec<CallItem> = events
        .iter()
        .filter(|event| !is_arrival(event))
        .copied()
        .collect();
    assert_ne!(sums(&none), whole);
    monitor.disarm();
}

/// Where accounting was switched off and on, what was open is over: the sums of all epochs are
/// those of the process, whatever was in flight.
#[test]
fn epochs_are_replayed_one_after_the_other() {
    let _alone = alone();
    let monitor = recording();
    let mut calls: Vec<Pin<Box<dyn Future<Output = u32>>>> = Vec::new();
    for nth in 0..12 {
        calls.push(Box::pin(chain(nth % 4)));
        calls.push(Box::pin(work(30)));
        calls.retain_mut(|call| {
            advance(3);
            let polled = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            polled.is_pending()
        });
        let mut around = pin!(switching(&monitor));
        advance(2);
        poll(around.as_mut());
        advance(5);
        // Some are dropped in an epoch after that of their creation.
        calls.truncate(20);
    }
    let ends = |item: &&CallItem| matches!(item, CallItem::EpochEnd { .. });
    let items = recorded();
    assert_eq!(items.iter().filter(ends).count(), 12);
    same_sums(&monitor.totals().0, &items);
    // Without the ends, calls of before would be taken for live ones.
    let blind: Vec<CallItem> = items.iter().filter(|item| !ends(item)).copied().collect();
    let now = monitor.totals().0.at;
    let [whole, blind] = [&items, &blind].map(|items| replay(items, now).aggregate);
    assert_ne!(whole, blind);
    monitor.disarm();
}

/// Switches accounting off and on within its poll.
#[turbowish::instrument]
async fn switching(monitor: &Monitor) {
    advance(4);
    let mut inner = pin!(work(2));
    poll(inner.as_mut());
    monitor.disarm();
    advance(100);
    monitor.arm();
    advance(6);
    poll(inner.as_mut());
    pause().await;
}

/// A ring that is full loses the oldest events, and counts them; the rest is replayed.
#[test]
fn what_is_overwritten_is_counted() {
    let _alone = alone();
    let monitor = recording();
    std::thread::spawn(|| {
        for _ in 0..2_000 {
            futures::executor::block_on(work(3));
        }
    })
    .join()
    .expect("no panic");
    let taken = thread::take_call_logs();
    let [own] = &taken[..] else {
        panic!("one thread: {taken:?}");
    };
    let (events, lost) = events(own);
    let ring = &own.log.ring;
    assert_eq!(events.len() as u64 + lost, ring.written());
    assert!(lost > 0 && events.len() as u64 + 1 >= ring.capacity());
    let mut replay = Replay::default();
    let mut calls = RecordedCalls::default();
    calls.add(CallRun {
        thread: own.index.into(),
        epoch: own.epoch,
        first: Some(lost),
        events,
        ..CallRun::default()
    });
    let mut items = calls.into_iter().peekable();
    let begin = items.peek().expect("it has some");
    assert!(matches!(begin, CallItem::GapEnd { lost: gap, .. } if *gap == lost));
    items.for_each(|item| replay.item(&item));
    let outcome = replay.finish(None);
    assert!(outcome.aggregate.procs.len() >= 2);
    monitor.disarm();
}
