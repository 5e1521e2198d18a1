//! Which waits are idle: those of the root of a task, in a loop, for what is known.

use std::pin::{Pin, pin};
use std::task::{Context, Waker};
use std::time::Duration;

use turbowish_model::query::{Query, Rows};

use super::stage::{advance, alone};
use super::wakers::armed;
use crate::monitor::Monitor;
use crate::sync::Notify;
use crate::sync::mpsc::{Receiver, channel};
use crate::time::{sleep, timeout};

const SECOND: Duration = Duration::from_secs(1);

/// Polls a task once a second; looks at it after each poll.
fn run(runtime: &tokio::runtime::Runtime, monitor: &Monitor, mut task: Pin<&mut impl Future>) {
    for _ in 0..5 {
        advance(1_000_000_000);
        runtime.block_on(tokio::time::advance(SECOND));
        let _inside = runtime.enter();
        let mut cx = Context::from_waker(Waker::noop());
        assert!(task.as_mut().poll(&mut cx).is_pending());
        monitor.look_for_idle();
    }
}

/// `dozes sleep(SECOND) timer`, for each await point of this file.
fn idle(monitor: &Monitor) -> Vec<String> {
    let query = Query {
        awaits: Some(Rows::default()),
        ..Query::default()
    };
    let rows = monitor.snapshot(&query).expect("a good query").awaits.rows;
    let rows = rows.into_iter().filter(|row| row.proc.contains("idle::"));
    let lines = rows.map(|row| {
        let name = row.proc.rsplit("::").next().unwrap_or_default();
        format!("{name} {} {}", row.place.expr, row.idle)
    });
    lines.collect()
}

#[turbowish::instrument]
async fn dozes() {
    loop {
        sleep(Duration::from_millis(10)).await;
    }
}

#[turbowish::instrument]
async fn dozes_below() {
    loop {
        doze().await;
    }
}

#[turbowish::instrument]
async fn doze() {
    sleep(Duration::from_millis(10)).await;
}

#[turbowish::instrument]
async fn once() {
    sleep(Duration::from_hours(1)).await;
}

#[turbowish::instrument]
async fn within() {
    loop {
        let _ = timeout(Duration::from_millis(10), std::future::pending::<()>()).await;
    }
}

#[turbowish::instrument]
async fn takes(mut items: Receiver<u8>) {
    while let Some(item) = items.recv().await {
        assert_eq!(item, 1);
        sleep(Duration::from_millis(10)).await;
    }
}

#[turbowish::instrument]
async fn listens(notify: &Notify) {
    notify.notified().await;
    notify.notified().await;
}

/// A task that waits for a notification is idle until one comes: then the wait was perhaps slow.
#[test]
fn a_root_that_waits_for_a_notification() {
    let _alone = alone();
    let monitor = armed();
    let notify = Notify::new();
    let mut listens = pin!(listens(&notify));
    let mut cx = Context::from_waker(Waker::noop());
    let mut look = || {
        advance(1_000_000_000);
        assert!(listens.as_mut().poll(&mut cx).is_pending());
        monitor.look_for_idle();
        idle(&monitor)
    };
    assert_eq!(look(), ["listens notify.notified() event"]);
    notify.notify_one();
    let expected = [
        "listens notify.notified() ",
        "listens notify.notified() event",
    ];
    assert_eq!(look(), expected);
    monitor.disarm();
}

#[test]
fn roots_that_wait_in_a_loop() {
    let _alone = alone();
    let monitor = armed();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    run(&runtime, &monitor, pin!(dozes()));
    run(&runtime, &monitor, pin!(dozes_below()));
    run(&runtime, &monitor, pin!(once()));
    run(&runtime, &monitor, pin!(within()));
    let (tx, rx) = channel(1);
    let mut takes = pin!(takes(rx));
    for _ in 0..3 {
        run(&runtime, &monitor, takes.as_mut());
        tx.try_send(1).expect("it is empty");
    }
    let expected = [
        "doze sleep(Duration::from_millis(10)) ",
        "dozes_below doze() ",
        "once sleep(Duration::from_hours(1)) ",
        "within timeout(Duration::from_millis(10), std::future::pending::<()>()) ",
        "takes items.recv() recv",
        "dozes sleep(Duration::from_millis(10)) timer",
        "takes sleep(Duration::from_millis(10)) timer",
    ];
    assert_eq!(idle(&monitor), expected);
    monitor.disarm();
}
