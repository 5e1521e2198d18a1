//! Once a thread is warm, nothing allocates: no call, no poll, no task and no branch of one.

use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use allocation_counter::measure;

/// Pending so many times.
struct Yield(u32);

impl Future for Yield {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        Poll::Pending
    }
}

#[turbowish::instrument]
async fn leaf(yields: u32) -> Result<u32, u32> {
    Yield(yields).await;
    if black_box(yields) % 3 == 2 {
        Err(yields)
    } else {
        Ok(yields)
    }
}

/// Counts and sets.
#[turbowish::instrument]
async fn counts(n: u32) {
    for i in 0..n {
        turbowish::counter!("steps");
        turbowish::counter!("sum of steps", i);
        turbowish::gauge!("step", i);
    }
}

#[turbowish::instrument]
async fn three_deep(yields: u32) {
    two_deep(yields).await;
}

#[turbowish::instrument]
async fn two_deep(yields: u32) {
    let _ = black_box(leaf(yields).await);
}

/// Keeps a clone of the waker of each poll, for so many polls.
struct Keeps(u32, Option<Waker>);

impl Future for Keeps {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        self.1 = Some(context.waker().clone());
        Poll::Pending
    }
}

#[turbowish::instrument]
async fn keeps(polls: u32) {
    Keeps(polls, None).await;
}

#[turbowish::instrument]
async fn joins(polls: u32) {
    tokio::join!(keeps(polls), keeps(polls));
}

/// One of its futures is polled by reference, again and again.
#[turbowish::instrument]
async fn selects(polls: u32) {
    let mut kept = pin!(keeps(polls));
    for _ in 0..polls / 2 {
        tokio::select! {
            biased;
            () = &mut kept => {}
            () = Yield(1) => {}
        }
    }
}

#[turbowish::instrument]
async fn chain(polls: u32) {
    kept(polls).await;
}

#[turbowish::instrument]
async fn kept(polls: u32) {
    keeps(polls).await;
}

/// Ends in every way that a call can end without unwinding: returns, returns `Err`, is cancelled,
/// is never polled.
#[turbowish::instrument]
async fn children(n: u32) {
    for i in 0..n {
        let _ = leaf(i % 4).await;
        drop(leaf(i));
        let mut cancelled = Box::pin(leaf(2));
        let _ = cancelled
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
    }
}

fn drive(future: impl Future) {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    while future.as_mut().poll(&mut context).is_pending() {}
}

/// The fewest allocations of `work` in many runs: a poll that lasts longer than any before it makes
/// room in its proc's histogram, and how long one lasts is not ours to say.
fn check(name: &str, work: impl Fn(), expected: u64) {
    let runs = (0..50).map(|_| measure(&work).count_total);
    assert_eq!(runs.min(), Some(expected), "{name}");
}

#[test]
fn nothing_allocates() {
    let _turbowish = turbowish::init();
    let tasks = 1_000_u32;
    // Slots of tasks and branches are made when they are needed, and used again.
    (0..100 * tasks).for_each(|_| drive(leaf(1)));
    (0..10 * tasks).for_each(|_| drive(joins(1)));
    check("a call from outside that never waits", || drive(leaf(0)), 0);
    check("counters and gauges", || drive(counts(100)), 0);
    check("a task", || drive(leaf(1)), 0);
    check("a task of a thousand polls", || drive(leaf(1_000)), 0);
    check(
        "a task three deep, of a thousand polls",
        || drive(three_deep(1_000)),
        0,
    );
    check("a chain whose wakers are kept", || drive(chain(1_000)), 0);
    check("a join", || drive(joins(1_000)), 0);
    check("a join that never waits", || drive(joins(0)), 0);
    check("a select by reference", || drive(selects(1_000)), 0);
    check("a call that is never polled", || drop(leaf(1)), 0);
    // One for each box of ours.
    check("a task with 3,000 calls", || drive(children(1_000)), 1_000);
    check(
        "a thousand tasks",
        || (0..tasks).for_each(|_| drive(leaf(1))),
        0,
    );
}
