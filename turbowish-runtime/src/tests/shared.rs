//! What is made again and again uses a reading of all counters that somebody else has made a moment
//! before. What is asked for once does not.

use std::pin::pin;
use std::task::{Context, Waker};

use turbowish_model::query::{Budget, Query, Rows};

use super::stage::{OURS, advance, alone, ours};
use crate::monitor::Monitor;

const MS: u64 = 1_000_000;

#[turbowish::instrument]
async fn works() {}

fn run() {
    let mut context = Context::from_waker(Waker::noop());
    assert!(pin!(works()).poll(&mut context).is_ready());
}

/// Number of polls that a snapshot tells whose counters may be so old.
fn polls(monitor: &Monitor, age_ns: u64) -> u64 {
    let query = Query {
        window_ns: None,
        procs: Some(Rows {
            filter: "shared::works".to_owned(),
            ..Rows::default()
        }),
        ..Query::default()
    };
    let budget = Budget::unlimited().with_age(age_ns);
    let snapshot = monitor.snapshot_within(&query, &budget);
    let rows = snapshot.expect("a good query").procs.rows;
    rows.iter().map(|row| row.polls).sum()
}

#[test]
fn a_reading_is_shared_for_a_moment() {
    let _alone = alone();
    let monitor = Monitor::new("test".into());
    monitor.arm();
    run();
    let aged = || polls(&monitor, 10 * MS);
    assert_eq!(aged(), 1);
    run();
    advance(9 * MS);
    assert_eq!(aged(), 1, "it was read 9 ms ago");
    advance(MS);
    assert_eq!(aged(), 2, "10 ms ago is too old");
    run();
    assert_eq!((aged(), polls(&monitor, 0), aged()), (2, 3, 3));
    run();
    // A tick ends with what was read.
    monitor.end_tick(10 * MS);
    assert_eq!(aged(), 3);
    monitor.tick();
    assert_eq!(aged(), 4);
    // What was read before accounting was off is of another time.
    monitor.disarm();
    monitor.arm();
    run();
    assert_eq!(aged(), 5);
    monitor.disarm();
    run();
    assert_eq!((aged(), aged()), (5, 5));
}

/// A reading keeps no ledger of a thread that has ended.
#[test]
fn threads_that_have_ended_are_folded_although_a_reading_is_shared() {
    let _alone = alone();
    let monitor = Monitor::new("test".into());
    monitor.arm();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let thread = ours().spawn(move || {
        run();
        ended.recv()
    });
    let ledgers = || monitor.kept()[0];
    while ledgers() == 0 {
        assert!(polls(&monitor, 0) <= 1);
        std::thread::yield_now();
    }
    while polls(&monitor, 10 * MS) == 0 {
        advance(10 * MS);
    }
    assert_eq!(ledgers(), 1, "{OURS}");
    drop(end);
    assert!(thread.expect("a thread").join().expect("no panic").is_err());
    monitor.fold();
    assert_eq!(ledgers(), 0);
    assert_eq!(polls(&monitor, 10 * MS), 1);
    monitor.disarm();
}
