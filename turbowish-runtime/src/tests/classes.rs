//! With some classes of events, only these are recorded.

use turbowish_model::event::{EventClass, EventClasses};
use turbowish_recording::{CallBatch, ChunkKind, EventBatch, ThreadEventKind};

use super::delays::Turns;
use super::stage::{advance, alone};
use crate::hot::call::{at, call};
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::hot::thread;
use crate::monitor::Monitor;
use crate::server::Source;
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

/// The classes of what the recorder gets of a new thread that runs the program. Names come with
/// any of them.
fn got(monitor: &Monitor) -> EventClasses {
    std::thread::scope(|scope| {
        scope.spawn(program).join().expect("no panic");
    });
    let mut classes = EventClasses::NONE;
    for chunk in monitor.polls().polls {
        match chunk.kind {
            ChunkKind::Polls => classes = classes.with(EventClass::Polls),
            ChunkKind::Calls => {
                let batch = CallBatch::read(chunk.at_unix_ns, &chunk.body).expect("calls");
                assert!(batch.lost == 0 && batch.events.len() >= 6, "{batch:?}");
                classes = classes.with(EventClass::Calls);
            }
            ChunkKind::Events => {
                let batch = EventBatch::read(chunk.at_unix_ns, &chunk.body).expect("events");
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
