//! What is made again and again uses the counters of a tick that has just ended. What is asked for
//! once does not.

use std::pin::pin;
use std::task::{Context, Waker};

use turbowish_model::query::{Budget, Query, Rows};
use turbowish_model::snapshot::Snapshot;

use super::stage::{advance, alone};
use crate::monitor::Monitor;

const MS: u64 = 1_000_000;

#[turbowish::instrument]
async fn works() {}

fn run() {
    let mut context = Context::from_waker(Waker::noop());
    assert!(pin!(works()).poll(&mut context).is_ready());
}

/// A snapshot whose counters may be so old.
fn snapshot(monitor: &Monitor, window_ns: Option<u64>, age_ns: u64) -> Snapshot {
    let query = Query {
        window_ns,
        procs: Some(Rows {
            filter: "shared::works".to_owned(),
            ..Rows::default()
        }),
        ..Query::default()
    };
    let budget = Budget::unlimited().with_age(age_ns);
    let snapshot = monitor.snapshot_within(&query, &budget);
    snapshot.expect("a good query")
}

/// Number of polls that it tells.
fn polls(monitor: &Monitor, age_ns: u64) -> u64 {
    let rows = snapshot(monitor, None, age_ns).procs.rows;
    rows.iter().map(|row| row.polls).sum()
}

#[test]
fn the_counters_of_a_tick_are_used_for_a_moment() {
    let _alone = alone();
    let monitor = Monitor::new("test".into());
    monitor.arm();
    advance(50 * MS);
    let aged = || polls(&monitor, 10 * MS);
    run();
    assert_eq!(aged(), 1, "no tick has ended");
    run();
    assert_eq!(aged(), 2, "what another snapshot has read is not used");
    monitor.tick();
    run();
    advance(9 * MS);
    assert_eq!((aged(), polls(&monitor, 0), aged()), (2, 3, 2));
    advance(MS);
    assert_eq!(aged(), 3, "10 ms ago is too long");
    monitor.tick();
    run();
    // What was read before accounting was off is of another time.
    monitor.disarm();
    assert_eq!(aged(), 4);
    monitor.arm();
    run();
    advance(10 * MS);
    assert_eq!(aged(), 5);
    monitor.disarm();
}

/// A window that ends with a tick is not the one that begins there.
#[test]
fn a_window_has_a_length_although_it_is_as_of_the_last_tick() {
    let _alone = alone();
    let monitor = Monitor::new("test".into());
    monitor.arm();
    for _ in 0..8 {
        run();
        advance(1_000 * MS);
        monitor.tick();
    }
    let length = |window_ns, age_ns| snapshot(&monitor, Some(window_ns), age_ns).window_ns / MS;
    for window_ms in [1, 300, 700, 1_000] {
        assert_eq!(length(window_ms * MS, 10 * MS), 1_000, "{window_ms} ms");
    }
    assert_eq!(length(2_000 * MS, 10 * MS), 2_000);
    advance(9 * MS);
    assert_eq!(length(2_000 * MS, 10 * MS), 2_000);
    assert_eq!(length(2_000 * MS, 0), 2_009);
    monitor.disarm();
}
