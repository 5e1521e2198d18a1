//! What a task tells of its last transitions: what it was polled for, when, where and for how long.

use std::pin::{Pin, pin};
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::PollRow;

use super::stage::{advance, alone};
use super::wakers::armed;
use crate::hot::call::call;
use crate::hot::origin::task;
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::monitor::Monitor;

static STEPS: Proc = Proc::new::<()>("::takes_steps", "1 transitions.rs");
static WAKES: Proc = Proc::new::<u8>("::wakes_it", "2 transitions.rs");

/// The last poll of the task, without the thread's name and place, which other tests share.
fn last(monitor: &Monitor) -> Option<PollRow> {
    let query = Query {
        tasks: Some(Rows::default()),
        ..Query::default()
    };
    let snapshot = monitor.snapshot(&query).expect("a good query");
    let mut rows = snapshot.tasks.rows.into_iter();
    let row = rows.find(|row| row.root.ends_with("::takes_steps"));
    let poll = row.expect("the task").last_poll?;
    assert_eq!(poll.thread.as_deref(), std::thread::current().name());
    let busy = &snapshot.workers[poll.worker.expect("a worker") as usize];
    assert_eq!(poll.thread.as_ref(), Some(&busy.name));
    Some(PollRow {
        thread: None,
        worker: None,
        ..poll
    })
}

fn poll(ago_ns: u64, took_ns: Option<u64>, ready: Option<(u64, &str)>) -> Option<PollRow> {
    Some(PollRow {
        ago_ns,
        took_ns,
        ready_ns: ready.map(|(ns, _)| ns),
        ready_by: ready.map(|(_, by)| by.to_owned()),
        // The root of the task that woke it.
        ready_in: ready.map(|(_, by)| by.trim_end_matches("-1").to_owned()),
        ..PollRow::default()
    })
}

fn step(future: &mut Pin<&mut impl Future>) {
    let mut context = Context::from_waker(Waker::noop());
    assert!(future.as_mut().poll(&mut context).is_pending());
}

#[test]
fn a_task_tells_its_last_transitions() {
    let _alone = alone();
    let monitor = armed();
    // Time zero stands for no time.
    advance(1);
    let kept = Mutex::new(Vec::<Waker>::new());
    let inside = Mutex::new(Vec::new());
    let steps = std::future::poll_fn(|cx| {
        kept.lock().expect("no panic").push(cx.waker().clone());
        advance(5);
        inside.lock().expect("no panic").push(last(&monitor));
        Poll::<()>::Pending
    });
    let wakes = std::future::poll_fn(|_| {
        let kept = kept.lock().expect("no panic");
        kept.iter().for_each(Waker::wake_by_ref);
        Poll::<()>::Pending
    });
    let mut other = pin!(call(WAKES.as_static(), Other, wakes));
    // Nobody of ours has spawned it.
    let mut task = pin!(task(call(STEPS.as_static(), Other, steps)));
    advance(4);
    step(&mut task);
    let unnamed = |ago_ns, took_ns| PollRow {
        ready_ns: Some(4),
        ..poll(ago_ns, took_ns, None).expect("a poll")
    };
    assert_eq!(last(&monitor), Some(unnamed(5, Some(5))));
    advance(10);
    step(&mut other);
    advance(7);
    assert_eq!(last(&monitor), Some(unnamed(22, Some(5))), "not polled yet");
    step(&mut task);
    advance(1);
    let woken = Some((7, "wakes_it-1"));
    assert_eq!(last(&monitor), poll(6, Some(5), woken));
    step(&mut task);
    assert_eq!(
        last(&monitor),
        poll(5, Some(5), None),
        "nobody asked for it"
    );
    // A wake that was followed by a poll which nobody saw.
    step(&mut other);
    monitor.disarm();
    step(&mut task);
    advance(1000);
    monitor.arm();
    assert_eq!(last(&monitor), None, "the last one was not seen");
    step(&mut task);
    assert_eq!(
        last(&monitor),
        poll(5, Some(5), None),
        "nor what it was for"
    );
    let inside = inside.into_inner().expect("no panic");
    let seen = [
        Some(unnamed(5, None)),
        poll(5, None, woken),
        poll(5, None, None),
    ];
    assert_eq!(inside[..3], seen);
}
