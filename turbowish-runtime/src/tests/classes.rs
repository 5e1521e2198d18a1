//! With some classes of events, only these are recorded.

use futures::FutureExt;
use turbowish_model::account::time::Scale;
use turbowish_model::collect::call_events::{CallItem, RecordedCalls};
use turbowish_model::event::CallEvent;
use turbowish_model::event::{EventClass, EventClasses};
use turbowish_recording::{
    CallBatch, ChunkKind, ClockReading, EventBatch, PollBatch, ThreadEventKind,
};

use super::delays::Turns;
use super::stage::{advance, alone};
use crate::hot::call::{at, call};
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::hot::{clock, thread};
use crate::monitor::Monitor;
use crate::server::{NewPolls, Source};
use crate::sync::Mutex;

pub(super) static HOLD: Proc = Proc::new::<Turns>("::holds", "1 classes.rs");

const MS: u64 = 1_000_000;

/// Polls, holds, an event, and calls: a call of [`HOLD`] that holds a lock for 7 ms.
pub(super) fn program() {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(async {
        let lock = Mutex::new(0);
        let hold = call(HOLD.as_static(), Other, async move {
            let mut held = at(&HOLD, 1, lock.lock()).await;
            tokio::task::yield_now().await;
            advance(7 * MS);
            *held += 1;
            crate::event!("held", times = 3, of = -1);
        });
        tokio::spawn(hold).await.expect("no panic");
    });
}

/// Runs the program on a new thread.
fn run() {
    std::thread::scope(|scope| {
        scope.spawn(program).join().expect("no panic");
    });
}

/// The classes of what the recorder gets of a new thread that runs the program. Names come with
/// any of them.
fn got(monitor: &Monitor) -> EventClasses {
    run();
    let mut classes = EventClasses::NONE;
    for chunk in monitor.polls().polls {
        match chunk.kind {
            ChunkKind::Polls => classes = classes.with(EventClass::Polls),
            ChunkKind::Calls => {
                let batch = CallBatch::read(chunk.at_unix_ns, chunk.body()).expect("calls");
                assert!(batch.lost == 0 && batch.events.len() >= 6, "{batch:?}");
                classes = classes.with(EventClass::Calls);
            }
            ChunkKind::Events => {
                let batch = EventBatch::read(chunk.at_unix_ns, chunk.body()).expect("events");
                for event in batch.events {
                    let class = match event.kind {
                        ThreadEventKind::User { .. } => EventClass::User,
                        _ => EventClass::Waits,
                    };
                    classes = classes.with(class);
                }
            }
            other => panic!("{other:?}"),
        }
    }
    classes
}

#[test]
fn only_what_is_asked_for_is_recorded_and_that_can_change() {
    let _alone = alone();
    let monitor = Monitor::new("classes".to_owned());
    thread::keep_polls(256, None);
    drop((thread::take_polls(), thread::take_call_logs()));
    monitor.arm();
    // States are no affair of the threads.
    for bits in (0..=u8::MAX).filter(|bits| EventClasses::of_bits(*bits).bits() == *bits) {
        let asked = EventClasses::of_bits(bits);
        monitor.record_events(asked);
        assert_eq!(monitor.recorded(), asked);
        let states = asked.has(EventClass::States);
        let got = got(&monitor);
        let got = if states {
            got.with(EventClass::States)
        } else {
            got
        };
        assert_eq!(got.text(), asked.text());
    }
    monitor.record_events(EventClasses::DEFAULT);
    thread::keep_polls(0, None);
    monitor.disarm();
}

/// A monitor that records polls and calls, and nothing of before.
fn recording() -> Monitor {
    let monitor = Monitor::new("classes".to_owned());
    thread::keep_polls(256, None);
    drop((thread::take_polls(), thread::take_call_logs()));
    drop(thread::take_call_ends());
    let polls = EventClasses::NONE.with(EventClass::Polls);
    monitor.record_events(polls.with(EventClass::Calls));
    monitor.arm();
    monitor
}

/// Ends it.
fn over(monitor: &Monitor) {
    monitor.disarm();
    monitor.record_events(EventClasses::DEFAULT);
    thread::keep_polls(0, None);
}

/// Adds the calls of what the recorder got, and returns the beginnings of the polls.
fn take(new: &NewPolls, calls: &mut RecordedCalls) -> Vec<u64> {
    let mut begins = Vec::new();
    for chunk in &new.polls {
        match chunk.kind {
            ChunkKind::Polls => {
                let batch = PollBatch::read(chunk.at_unix_ns, chunk.body()).expect("polls");
                begins.extend(batch.polls.iter().map(|poll| poll.start_unix_ns));
            }
            ChunkKind::Calls => {
                let batch = CallBatch::read(chunk.at_unix_ns, chunk.body()).expect("calls");
                calls.add(batch.into());
            }
            other => panic!("{other:?}"),
        }
    }
    begins
}

/// The wall clock may be set between two looks: calls lie beside the polls of the same look, and
/// have one order and the same durations all the same.
#[test]
fn calls_lie_beside_the_polls_when_the_clock_is_set() {
    let _alone = alone();
    let monitor = recording();
    let (mut calls, mut polls, mut ticks) = (RecordedCalls::default(), Vec::new(), Vec::new());
    for unix_ns in [90_000 * MS, 5_000 * MS, 5_010 * MS, 1 << 60] {
        ticks.push(clock::ticks());
        run();
        advance(3 * MS);
        let reading = ClockReading {
            scale: clock::scale(),
            ticks: clock::ticks(),
            unix_ns,
        };
        polls.extend(take(&monitor.polls_at(reading), &mut calls));
    }
    over(&monitor);
    let begins: Vec<(u64, u64)> = calls
        .into_iter()
        .filter_map(|item| match item {
            CallItem::Event { event, at } => Some((event, at)),
            _ => None,
        })
        .filter(|(event, _)| matches!(event.call(), Some((_, CallEvent::PollStart { .. }))))
        .map(|(event, at)| (event.t, at))
        .collect();
    let beside: Vec<u64> = begins.iter().map(|(_, at)| *at).collect();
    assert_eq!(beside, polls);
    // As the machine's own clock was: each program begins with a poll.
    let steady: Vec<u64> = begins.iter().step_by(2).map(|(t, _)| *t).collect();
    let since = |times: &[u64]| -> Vec<u64> { times.iter().map(|at| at - times[0]).collect() };
    assert_eq!((since(&steady), polls.len()), (since(&ticks), 8));
}

/// Events that share a reading of the clock are at one instant, though the recorder looks between
/// them: in what is left of a nanosecond, the instants of two looks differ.
#[test]
fn events_of_two_looks_are_at_one_instant() {
    let _alone = alone();
    let monitor = recording();
    let mut calls = RecordedCalls::default();
    let (mut ticks, mut readings) = (Vec::new(), Vec::new());
    let mut look = |n: u64| {
        let reading = ClockReading {
            scale: Scale::new(3, 3),
            ticks: clock::ticks(),
            unix_ns: 1_000_000 + 10 * n,
        };
        take(&monitor.polls_at(reading), &mut calls);
        readings.push(reading);
    };
    for n in 1..50 {
        advance(n);
        ticks.push(clock::ticks());
        let task = call(HOLD.as_static(), Other, async {
            let part = call(HOLD.as_static(), Other, async {});
            advance(n % 3);
            look(n);
            at(&HOLD, 1, part).await;
        });
        task.now_or_never().expect("it is never pending");
    }
    over(&monitor);
    look(50);
    let mut begins = Vec::new();
    let mut last = 0;
    for item in calls {
        let CallItem::Event { event, .. } = item else {
            continue;
        };
        assert!(event.t >= last, "{event:?} is before {last}");
        last = event.t;
        if matches!(event.call(), Some((_, CallEvent::Create { .. }))) {
            begins.push(event.t);
        }
    }
    // The call of the task, and the one in it, begin at one instant, by the first reading.
    let expected = ticks.iter().map(|ticks| readings[0].unix_ns(*ticks));
    let twice: Vec<u64> = expected.flat_map(|at| [at, at]).collect();
    assert_eq!(begins, twice);
}

/// The end of an epoch is recorded once, though all of its threads have ended before.
#[test]
fn the_end_of_an_epoch_is_recorded() {
    let _alone = alone();
    let monitor = recording();
    let mut calls = RecordedCalls::default();
    let mut look = || {
        let reading = ClockReading {
            scale: clock::scale(),
            ticks: 0,
            unix_ns: 0,
        };
        take(&monitor.polls_at(reading), &mut calls);
    };
    let mut ends = Vec::new();
    for looks in [2, 1, 0] {
        run();
        (0..looks).for_each(|_| look());
        // The ledgers of the threads are folded.
        drop(monitor.totals());
        look();
        advance(5 * MS);
        ends.push(clock::ticks());
        monitor.disarm();
        look();
        advance(5 * MS);
        monitor.arm();
    }
    // Nothing happens in this one.
    over(&monitor);
    look();
    let told = calls.into_iter().filter_map(|item| match item {
        CallItem::EpochEnd { t, .. } => Some(t),
        CallItem::Event { .. } => None,
        gap => panic!("{gap:?}"),
    });
    assert_eq!(told.collect::<Vec<_>>(), ends);
}
