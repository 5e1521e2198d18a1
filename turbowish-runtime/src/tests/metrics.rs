//! Counters and gauges belong to the innermost call, add up over threads, and are silent while
//! accounting is off.

use std::pin::pin;
use std::task::{Context, Waker};

use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::{CounterRow, Snapshot};

use super::stage::{advance, alone};
use crate::monitor::Monitor;

fn snapshot(monitor: &Monitor) -> Snapshot {
    let query = Query {
        counters: Some(Rows {
            filter: "metrics.rs".to_owned(),
            sort: "counter".to_owned(),
            ..Rows::default()
        }),
        ..Query::default()
    };
    monitor.snapshot(&query).expect("a good query")
}

/// `requests inner 2: 7`, `queue - 1: 5 (-3 to 5)`
fn line(row: &CounterRow) -> String {
    let proc = row.proc.as_deref().unwrap_or("-");
    let proc = proc.rsplit("::").next().unwrap_or(proc);
    let (name, updates) = (&row.name, row.updates);
    match (row.total, row.value, row.min, row.max) {
        (Some(total), None, None, None) => format!("{name} {proc} {updates}: {total}"),
        (None, Some(value), Some(min), Some(max)) => {
            format!("{name} {proc} {updates}: {value} ({min} to {max})")
        }
        other => panic!("{other:?}"),
    }
}

fn lines(monitor: &Monitor) -> Vec<String> {
    snapshot(monitor).counters.rows.iter().map(line).collect()
}

fn says(n: u32) {
    crate::counter!("requests", n);
    crate::gauge!("queue", i64::from(n) - 5);
}

#[turbowish::instrument]
async fn inner() {
    says(4);
    advance(3);
    says(3);
}

#[turbowish::instrument]
async fn outer() {
    says(1);
    inner().await;
    says(10);
}

fn run(future: impl Future<Output = ()>) {
    let mut context = Context::from_waker(Waker::noop());
    assert!(pin!(future).poll(&mut context).is_ready());
}

#[test]
fn what_is_said_belongs_to_whoever_says_it() {
    let _alone = alone();
    let monitor = Monitor::new("test".into());
    says(1_000);
    assert_eq!(lines(&monitor), [""; 0], "nothing is taken");
    monitor.arm();
    run(outer());
    says(2);
    advance(10);
    let expected = [
        "queue - 1: -3 (-3 to -3)",
        "queue inner 2: -2 (-2 to -1)",
        "queue outer 2: 5 (-4 to 5)",
        "requests - 1: 2",
        "requests inner 2: 7",
        "requests outer 2: 11",
    ];
    let mut found = lines(&monitor);
    found.sort_unstable();
    assert_eq!(found, expected);

    // Another thread adds to it; the last one to set a gauge has the word; what a thread has said
    // stays when it ends.
    std::thread::spawn(|| run(inner()))
        .join()
        .expect("no panic");
    let now = lines(&monitor);
    assert!(now.contains(&"requests inner 4: 14".to_owned()), "{now:?}");
    monitor.disarm();
    says(500);
    let paused = lines(&monitor);
    monitor.arm();
    says(5);
    let resumed = snapshot(&monitor).counters.rows;
    monitor.disarm();
    assert_eq!(now, paused);
    let own = resumed
        .iter()
        .find(|row| row.proc.is_none() && row.total.is_some());
    assert_eq!(own.and_then(|row| row.total), Some(7));
}

#[test]
fn what_is_no_number_of_theirs_is_lost() {
    let _alone = alone();
    let monitor = Monitor::new("test".into());
    monitor.arm();
    let before = crate::metrics::lost();
    crate::counter!("below zero", -1);
    crate::gauge!("too large", u64::MAX);
    let mut evaluated = 0;
    crate::counter!("fine", {
        evaluated += 1;
        u128::from(u64::MAX)
    });
    monitor.disarm();
    crate::counter!("off", {
        evaluated += 1;
        1_u8
    });
    assert_eq!(crate::metrics::lost() - before, 2);
    assert_eq!(evaluated, 1, "nothing is evaluated while it is not taken");
    assert_eq!(lines(&monitor), [format!("fine - 1: {}", u64::MAX)]);
}
