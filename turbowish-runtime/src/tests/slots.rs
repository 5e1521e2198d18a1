//! Slots are used again, whichever thread frees them, and a reader never takes one task for
//! another.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use super::stage::{advance, alone};
use crate::hot::call::call;
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::hot::task::{self, TaskRow};
use crate::lock::lock;
use crate::monitor::Monitor;

static SLOTTED: Proc = Proc::new::<Work>("::slotted", "1 slots.rs");

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A task that has waited once, and a waker of another one that is over.
fn waits() -> (Work, Waker) {
    let mut context = Context::from_waker(Waker::noop());
    let wakers = Arc::new(Mutex::new(Vec::new()));
    let mut task = |polled: Poll<()>| {
        let wakers = wakers.clone();
        let leaf = std::future::poll_fn(move |cx| {
            lock(&wakers).push(cx.waker().clone());
            polled
        });
        let mut task: Work = Box::pin(call(SLOTTED.as_static(), Other, leaf));
        assert_eq!(task.as_mut().poll(&mut context), polled);
        task
    };
    drop(task(Poll::Ready(())));
    let task = task(Poll::Pending);
    let waker = lock(&wakers).remove(0);
    (task, waker)
}

fn rows() -> Vec<TaskRow> {
    let all = task::all().into_iter();
    all.filter(|row| Some(row.root()) == SLOTTED.id()).collect()
}

#[test]
fn a_row_of_a_task_that_is_over_is_nothing() {
    let _alone = alone();
    let monitor = Monitor::new("test".into());
    monitor.arm();
    advance(1);
    let (first, waker) = waits();
    let [row] = rows()[..] else {
        panic!("one task");
    };
    let read = row.read().map(|(meta, _)| meta.id);
    assert_eq!(read, Some(row.id()));
    drop(first);
    assert!(row.read().is_none() && row.glance().is_none() && !row.is_live());
    // Its slot is free, and may be that of the next task.
    let second = waits();
    assert!(row.read().is_none() && row.meta().is_none() && row.wakes_since_told() == 0);
    assert_eq!(rows().len(), 1);
    drop((second, waker));
    monitor.disarm();
}

#[test]
fn slots_go_from_threads_that_free_them_to_threads_that_need_them() {
    const TASKS: usize = 20_000;
    /// More than are alive, and in the lists of three threads.
    const MANY: usize = 4_096;
    let _alone = alone();
    let monitor = Monitor::new("test".into());
    monitor.arm();
    let before = task::slots();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (send, receive) = sync_channel::<(Work, Waker)>(64);
        scope.spawn(move || receive.into_iter().for_each(drop));
        let over = &over;
        scope.spawn(move || {
            while !over.load(Relaxed) {
                for row in rows() {
                    let read = row.read();
                    assert!(read.is_none_or(|(meta, _)| meta.id == row.id()));
                }
            }
        });
        for _ in 0..TASKS {
            send.send(waits()).expect("it is received");
        }
        over.store(true, Relaxed);
    });
    let made = task::slots() - before;
    assert!(made < MANY, "{made}");
    assert!(rows().is_empty());
    monitor.disarm();
}
