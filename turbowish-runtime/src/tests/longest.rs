//! When, where and in which task the longest poll of each proc was, and the longest wait of each
//! await point.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::{Place, ProcRow};

use super::stage::{advance, alone};
use super::wakers::armed;
use crate::hot::call::{at, call};
use crate::hot::origin::task;
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::monitor::Monitor;

const MS: u64 = 1_000_000;

/// Is ready in its last poll; runs for so many milliseconds in each.
struct Runs(&'static [u64]);

impl Future for Runs {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let (&first, rest) = self.0.split_first().expect("not over");
        self.0 = rest;
        advance(first * MS);
        match rest {
            [] => Poll::Ready(()),
            [..] => Poll::Pending,
        }
    }
}

static OUTER: Proc = Proc::new::<Runs>(
    "::longest_outer",
    "1 longest.rs\n2 1 2 20 inner()\n3 1 3 20 b()",
);
static INNER: Proc = Proc::new::<Runs>("::longest_inner", "5 longest.rs\n6 1 6 20 a()");

async fn inner() {
    at(&INNER, 0, Runs(&[1, 5, 3, 1])).await;
    advance(20 * MS);
}

async fn outer() {
    at(&OUTER, 0, call(INNER.as_static(), Other, inner())).await;
    advance(MS);
    at(&OUTER, 1, Runs(&[1, 50, 2])).await;
}

fn row(monitor: &Monitor, name: &str) -> ProcRow {
    let query = Query {
        procs: Some(Rows {
            filter: format!("proc:{name}"),
            ..Rows::default()
        }),
        ..Query::default()
    };
    let mut snapshot = monitor.snapshot(&query).expect("a good query");
    let row = snapshot.procs.rows.pop().expect("the proc");
    if let Some(on) = &row.max_ever_on {
        let worker = on.strip_prefix('w').and_then(|at| at.parse().ok());
        let worker: usize = worker.expect("a worker");
        let name = std::thread::current().name().map(ToOwned::to_owned);
        assert_eq!(Some(snapshot.workers.swap_remove(worker).name), name);
    }
    row
}

/// Length and age in milliseconds, task, and line of the await point before.
fn longest(monitor: &Monitor, name: &str) -> (u64, Option<u64>, Option<String>, Option<u32>) {
    let row = row(monitor, name);
    let after = row.max_ever_after.map(|at| {
        assert_eq!((at.file.as_str(), at.column), ("longest.rs", 1));
        at.line
    });
    let ago = row.max_ever_ago_ns.map(|ns| ns / MS);
    (row.max_ever_ns / MS, ago, row.max_ever_task, after)
}

/// Number of the task `longest_outer-7`: the tests share the functions.
fn ordinal(name: &str) -> Option<u32> {
    name.strip_prefix("longest_outer-")?.parse().ok()
}

/// Of an await point: length and age in milliseconds of the longest wait, and its task.
fn longest_wait(monitor: &Monitor, line: u32) -> (u64, Option<u64>, Option<String>) {
    let query = Query {
        awaits: Some(Rows::default()),
        ..Query::default()
    };
    let rows = monitor.snapshot(&query).expect("a good query").awaits.rows;
    let is_there = |place: &Place| (place.file.as_str(), place.line) == ("longest.rs", line);
    let mut rows = rows.into_iter();
    let row = rows.find(|row| is_there(&row.place)).expect("the await");
    let ago = row.max_wait_ago_ns.map(|ns| ns / MS);
    (row.max_wait_ns / MS, ago, row.max_wait_task)
}

#[test]
fn the_longest_wait_of_each_await_is_remembered() {
    let _alone = alone();
    let monitor = armed();
    advance(1);
    let mut context = Context::from_waker(Waker::noop());
    let mut of = Box::pin(task(call(OUTER.as_static(), Other, outer())));
    let mut poll = |pause: u64| {
        let ready = of.as_mut().poll(&mut context).is_ready();
        advance(pause * MS);
        ready
    };
    assert!(!poll(200));
    assert_eq!(longest_wait(&monitor, 6), (0, None, None), "it waits");
    assert!(!poll(300) && !poll(100));
    // 300 from the end of the second poll to the third, which took 3.
    let named = longest_wait(&monitor, 6).2;
    assert!(named.as_deref().and_then(ordinal).is_some(), "{named:?}");
    let seen = (300, Some(103), named.clone());
    assert_eq!(
        [6, 2].map(|line| longest_wait(&monitor, line)),
        [seen.clone(), seen]
    );
    // The inner one ends, and the outer one waits elsewhere.
    assert!(!poll(400) && !poll(500));
    let seen = (300, Some(103 + 23 + 400 + 50 + 500), named.clone());
    assert_eq!(
        [6, 2].map(|line| longest_wait(&monitor, line)),
        [seen.clone(), seen]
    );
    assert_eq!(longest_wait(&monitor, 3), (400, Some(550), named.clone()));
    assert!(poll(10));
    assert_eq!(longest_wait(&monitor, 3), (500, Some(12), named));
    monitor.disarm();
}

async fn only_b() {
    at(&OUTER, 1, Runs(&[50, 5, 7, 1])).await;
}

/// Those that are over are named, and what is longer before the window is not taken for its own.
#[test]
fn the_longest_poll_and_wait_of_a_window_are_remembered() {
    let _alone = alone();
    let monitor = armed();
    advance(1);
    let mut context = Context::from_waker(Waker::noop());
    let mut of = Box::pin(task(call(OUTER.as_static(), Other, only_b())));
    for pause in [20_000, 2_000, 100] {
        assert!(of.as_mut().poll(&mut context).is_pending());
        monitor.tick();
        advance(pause * MS);
        monitor.tick();
    }
    let window = |length: Option<u64>| {
        let query = Query {
            window_ns: length.map(|length| length * MS),
            procs: Some(Rows {
                filter: "proc:longest_outer".to_owned(),
                ..Rows::default()
            }),
            awaits: Some(Rows::default()),
            ..Query::default()
        };
        let mut snapshot = monitor.snapshot(&query).expect("a good query");
        let row = snapshot.procs.rows.pop().expect("the proc");
        let is_there = |place: &Place| (place.file.as_str(), place.line) == ("longest.rs", 3);
        let mut points = snapshot.awaits.rows.into_iter();
        let point = points.find(|row| is_there(&row.place)).expect("the await");
        let ms = |ns: Option<u64>| ns.map(|ns| ns / MS);
        let after = row.max_poll_after.map(|at| at.line);
        assert_eq!(row.max_poll_task.is_some(), row.max_poll_ago_ns.is_some());
        assert_eq!(point.wait_max_task, row.max_ever_task);
        (
            (row.max_poll_ns / MS, ms(row.max_poll_ago_ns), after),
            (ms(point.wait_max_ns), ms(point.wait_max_ago_ns)),
        )
    };
    // Polls of 50, 5 and 7; waits of 20 s and 2 s. The first one ended with the second poll.
    let short = (Some(2_000), Some(107));
    let long = (Some(20_000), Some(2_112));
    assert_eq!(window(Some(1_000)), ((7, Some(100), Some(3)), short));
    assert_eq!(window(Some(10_000)), ((7, Some(100), Some(3)), long));
    let all = ((50, Some(22_112), None), long);
    assert_eq!([window(Some(60_000)), window(None)], [all, all]);
    monitor.disarm();
}

#[test]
fn the_longest_poll_of_each_proc_is_remembered() {
    let _alone = alone();
    let monitor = armed();
    advance(1);
    let mut context = Context::from_waker(Waker::noop());
    let mut poll = |mut of: Pin<&mut dyn Future<Output = ()>>| {
        let ready = of.as_mut().poll(&mut context).is_ready();
        advance(100 * MS);
        ready
    };
    let mut of: Pin<Box<dyn Future<Output = ()>>> =
        Box::pin(task(call(OUTER.as_static(), Other, outer())));
    assert!(!poll(of.as_mut()));
    let seen = longest(&monitor, "longest_inner");
    let before = seen.2.as_deref().and_then(ordinal).expect("a task") - 1;
    let named = |number: u32| Some(format!("longest_outer-{}", before + number));
    assert_eq!(seen, (1, Some(100), named(1), None), "the first poll");
    assert!(!poll(of.as_mut()) && !poll(of.as_mut()));
    // A poll of both, in which the outer one only waits for the inner one; a shorter one follows.
    let seen = ["longest_inner", "longest_outer"].map(|name| longest(&monitor, name));
    let both = |line| (5, Some(203), named(1), Some(line));
    assert_eq!(seen, [both(6), both(2)]);
    // The inner one ends, and the outer one goes on: 1 + 20, and 1 + 1 after it.
    assert!(!poll(of.as_mut()));
    let seen = ["longest_inner", "longest_outer"].map(|name| longest(&monitor, name));
    let own = (21, Some(102), named(1), Some(6));
    assert_eq!(seen, [own, (23, Some(100), named(1), Some(2))]);
    assert!(!poll(of.as_mut()) && poll(of.as_mut()));
    drop(of);
    // The task is over.
    let seen = longest(&monitor, "longest_outer");
    assert_eq!(seen, (50, Some(202), named(1), Some(3)));
    // Those of other tasks are shorter, on another thread, too.
    let mut shorter = pin!(task(call(INNER.as_static(), Other, inner())));
    assert!(!poll(shorter.as_mut()));
    let seen = longest(&monitor, "longest_inner");
    assert_eq!((seen.0, seen.2), (21, named(1)));
    // A thread that has ended has no name any more.
    let other = std::thread::spawn(|| {
        let mut context = Context::from_waker(Waker::noop());
        let mut of = pin!(task(call(OUTER.as_static(), Other, Runs(&[70, 1]))));
        assert!(of.as_mut().poll(&mut context).is_pending());
    });
    other.join().expect("no panic");
    let row = row(&monitor, "longest_outer");
    assert_eq!((row.max_ever_ns, row.max_ever_on), (70 * MS, None));
    assert_eq!(row.max_ever_task, named(2));
    monitor.disarm();
}
