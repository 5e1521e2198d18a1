//! How a proc ran in the last minute is reported in its row, whatever window the rest of the row is
//! of.

use std::pin::pin;
use std::task::{Context, Waker};

use turbowish_model::query::{Query, Rows};

use super::stage::{advance, alone};
use crate::hot::clock;
use crate::monitor::Monitor;

const SECOND: u64 = 1_000_000_000;
const CELL: u64 = 3 * SECOND;

#[turbowish::instrument]
async fn works(time: u64) {
    advance(time);
}

fn run(time: u64) {
    let mut context = Context::from_waker(Waker::noop());
    assert!(pin!(works(time)).poll(&mut context).is_ready());
}

fn trend(monitor: &Monitor, window_ns: Option<u64>) -> Vec<u64> {
    let query = Query {
        window_ns,
        procs: Some(Rows {
            filter: "trend::works".to_owned(),
            ..Rows::default()
        }),
        ..Query::default()
    };
    let snapshot = monitor.snapshot(&query).expect("a good query");
    let [row] = &snapshot.procs.rows[..] else {
        panic!("one proc is called so: {:?}", snapshot.procs.rows);
    };
    row.trend_ppm.clone()
}

#[test]
fn the_last_minute_is_told_whatever_the_window() {
    let _alone = alone();
    clock::start();
    advance(CELL - clock::ticks() % CELL);
    let monitor = Monitor::new("test".into());
    monitor.arm();
    for busy in [SECOND, 2 * SECOND, 0] {
        run(busy);
        advance(CELL - busy);
        monitor.tick();
    }
    for window in [None, Some(SECOND), Some(60 * SECOND)] {
        assert_eq!(trend(&monitor, window), [333_333, 666_666, 0]);
    }
    // What has come since the last tick is in it, and a minute is all there is.
    run(SECOND);
    assert_eq!(
        trend(&monitor, None),
        [333_333, 666_666, 0, 1_000_000],
        "the cell that goes on"
    );
    for _ in 0..30 {
        advance(CELL);
        monitor.tick();
    }
    assert_eq!(trend(&monitor, None), [0; 20]);
    monitor.disarm();
}
