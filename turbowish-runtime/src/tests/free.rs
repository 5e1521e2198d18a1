//! Threads that run freely, and a reader that pauses, resumes and looks whenever it likes: no
//! number is ever absurd.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

use turbowish_model::account::aggregate::ProcStats;
use turbowish_model::account::counters::Sum;
use turbowish_model::collect::history::Totals;

use super::stage::{advance, alone};
use crate::hot::call::{at, call};
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::hot::{clock, switch, thread};
use crate::monitor::Monitor;

static OUTER: Proc = Proc::new::<Pending>("::outer", "1 free.rs");
static INNER: Proc = Proc::new::<Pending>("::inner", "2 free.rs");
const WORKERS: u64 = 3;

/// Pending so many times.
struct Pending(u32);

impl Future for Pending {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        advance(1);
        match self.0.checked_sub(1) {
            Some(left) => {
                self.0 = left;
                Poll::Pending
            }
            None => Poll::Ready(()),
        }
    }
}

/// One task, polled to its end or dropped before.
fn task(polls: u32) {
    let mut task = Box::pin(call(OUTER.as_static(), Other, async move {
        at(&OUTER, 0, call(INNER.as_static(), Other, Pending(polls))).await;
    }));
    advance(1);
    for _ in 0..3 {
        let polled = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        advance(1);
        if polled.is_ready() {
            return;
        }
    }
}

fn sane(totals: &Totals, begun: u64) {
    let most = (clock::ticks() - begun + 10) * WORKERS;
    for proc in &totals.aggregate.procs {
        for sum in [Sum::Hold, Sum::Running, Sum::Inclusive] {
            assert!(proc.sum(sum) <= most, "{sum:?} {}", proc.sum(sum) as i64);
        }
        for sum in [Sum::Wall, Sum::Unstarted] {
            assert!(proc.sum(sum) < 1 << 40, "{sum:?} {}", proc.sum(sum) as i64);
        }
    }
}

fn waited(proc: &ProcStats) -> u64 {
    proc.sites
        .iter()
        .fold(0, |sum, site| sum.wrapping_add(site.waited))
}

#[test]
fn pauses_in_the_middle_of_everything_leave_no_absurd_number() {
    let _alone = alone();
    switch::disarm();
    for _ in 0..60 {
        thread::take_enrolled();
        let monitor = Monitor::new("free".to_owned());
        let (over, started, begun) = (AtomicBool::new(false), AtomicU64::new(0), clock::ticks());
        std::thread::scope(|scope| {
            for worker in 0..WORKERS {
                let (over, started) = (&over, &started);
                scope.spawn(move || {
                    let mut nth = worker as u32;
                    while !over.load(Relaxed) {
                        nth += 1;
                        task(nth % 5);
                        started.fetch_add(1, Relaxed);
                    }
                });
            }
            while started.load(Relaxed) < WORKERS {
                std::thread::yield_now();
            }
            for _ in 0..5 {
                monitor.arm();
                std::thread::yield_now();
                monitor.tick();
                monitor.disarm();
            }
            over.store(true, Relaxed);
        });
        let (totals, _) = monitor.totals();
        sane(&totals, begun);
        let running = totals
            .aggregate
            .procs
            .iter()
            .map(|proc| proc.sum(Sum::Running));
        let running: u64 = running.sum();
        assert_eq!(running, totals.busy.values().sum::<u64>());
        for proc in &totals.aggregate.procs {
            // Every moment of every call is unstarted, in a poll, or between two.
            let parts = proc.sum(Sum::Unstarted) + proc.sum(Sum::Hold) + waited(proc);
            assert_eq!(proc.sum(Sum::Wall), parts);
        }
        let window = monitor.window(&totals, Some(1));
        for proc in &window.aggregate.procs {
            assert!(proc.sum(Sum::Running) < 1 << 40, "a window's running");
        }
    }
}
