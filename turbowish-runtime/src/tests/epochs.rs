//! However often accounting is switched, what is kept of past epochs is bounded by the threads that
//! are still in one of them.

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, channel};
use std::task::{Context, Poll, Waker};

use turbowish_model::account::call::ProcKey;
use turbowish_model::account::counters::Sum;

use super::stage::{advance, alone, ours};
use crate::hot::call::call;
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::hot::{clock, switch, thread};
use crate::monitor::Monitor;

static SITS: Proc = Proc::new::<Step>("::sits", "1 epochs.rs");
static SHORT: Proc = Proc::new::<Step>("::short", "2 epochs.rs");

/// Pending once; a poll takes a tick, and goes on until it is told to end.
struct Step(Option<Receiver<()>>, bool);

impl Future for Step {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        advance(1);
        if let Some(told) = &self.0 {
            // An error is an answer too.
            let _ = told.recv();
        }
        match std::mem::replace(&mut self.1, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

thread_local! {
    static KEPT: RefCell<Vec<Task>> = const { RefCell::new(Vec::new()) };
}

fn short() -> Task {
    Box::pin(call(SHORT.as_static(), Other, Step(None, false)))
}

fn poll(task: &mut Task) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    task.as_mut().poll(&mut context).is_ready()
}

/// Calls, polls, and how calls ended: returned, dropped, let go of at a pause.
fn counts(monitor: &Monitor, proc: &'static Proc) -> [u64; 5] {
    let (totals, _) = monitor.totals();
    let id = proc.id().expect("a number") as usize;
    let stats = totals.aggregate.procs.get(id).cloned().unwrap_or_default();
    [
        Sum::Calls,
        Sum::Polls,
        Sum::Ready,
        Sum::Cancelled,
        Sum::Abandoned,
    ]
    .map(|sum| stats.sum(sum))
}

/// Threads, each in a poll since an epoch of its own, while accounting is switched `times` times.
fn check(sitting: usize, times: u64) {
    let _alone = alone();
    let monitor = Monitor::new("epochs".to_owned());
    let (begun, begins) = channel();
    std::thread::scope(|scope| {
        let mut tell = Vec::new();
        for _ in 0..sitting {
            let (end, told) = channel();
            tell.push(end);
            monitor.arm();
            let begun = begun.clone();
            let sits = move || {
                let mut task: Task =
                    Box::pin(call(SITS.as_static(), Other, Step(Some(told), false)));
                begun.send(()).expect("somebody listens");
                while !poll(&mut task) {}
            };
            ours().spawn_scoped(scope, sits).expect("a thread");
            begins.recv().expect("a thread");
            while counts(&monitor, &SITS)[1] < tell.len() as u64 {
                std::thread::yield_now();
            }
            monitor.disarm();
        }
        let mut given = 0;
        for nth in 0..times {
            monitor.arm();
            let mut task = short();
            poll(&mut task);
            if nth % 64 == 0 {
                // Dropped when its thread ends, and the thread's own ledger is gone already.
                let keep = move || {
                    KEPT.with_borrow_mut(|kept| kept.push(task));
                    poll(&mut short());
                };
                let keeps = ours().spawn(keep).expect("a thread");
                keeps.join().expect("no panic");
                given += 1;
            }
            monitor.disarm();
            // Of this thread, of those that sit, and of those that have ended.
            let [ledgers, epochs] = monitor.kept();
            assert!(
                ledgers <= sitting + 2 && epochs <= sitting + 2,
                "{ledgers} {epochs}"
            );
        }
        // Each began one, and a second one goes with its thread.
        let expected = [times + given, times + given, 0, 2 * given, times - given];
        assert_eq!(counts(&monitor, &SHORT), expected);
        monitor.arm();
        tell.clear();
    });
    // The end of the poll in which it sat is not known; the poll after it is that of a call met
    // late.
    let sitting = sitting as u64;
    let expected = [2 * sitting, 2 * sitting, sitting, 0, sitting];
    assert_eq!(counts(&monitor, &SITS), expected);
    monitor.disarm();
}

#[test]
fn what_is_kept_of_the_past_is_bounded_by_the_threads_that_are_there() {
    check(1, 2_000);
    check(5, 200);
}

#[test]
fn a_thread_that_comes_late_finds_its_epoch_closed_or_is_waited_for() {
    let _alone = alone();
    let monitor = Monitor::new("late".to_owned());
    monitor.arm();
    let epoch = switch::epoch().expect("armed");
    let key = ProcKey {
        id: SHORT.id().expect("a number"),
        future_bytes: 0,
    };
    let create = || {
        advance(10);
        thread::with(epoch, |thread| {
            thread.ledger.create(key, clock::ticks());
        })
    };
    create().expect("its epoch runs");
    monitor.disarm();
    // One that was in the middle of an event: its epoch lasts until then.
    create().expect("it is known to be there");
    assert_eq!(counts(&monitor, &SHORT), [2, 0, 0, 0, 2]);
    let (totals, _) = monitor.totals();
    let stats = &totals.aggregate.procs[key.id as usize];
    // Both calls are unstarted, one for ten ticks.
    let times = [Sum::Wall, Sum::Unstarted].map(|sum| stats.sum(sum));
    assert_eq!(times, [10, 10]);
    // One that had seen the epoch, but made no event in it.
    std::thread::scope(|scope| {
        let late = || {
            let stray = thread::with_stray(epoch, |_| ()).is_some();
            (create().is_some(), stray)
        };
        let late = ours().spawn_scoped(scope, late).expect("a thread");
        assert_eq!(late.join().expect("the thread"), (false, false));
    });
    assert_eq!(counts(&monitor, &SHORT), [2, 0, 0, 0, 2]);
    assert_eq!(monitor.kept(), [1, 1]);
}
