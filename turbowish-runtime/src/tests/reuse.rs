//! A reading of the clock is used twice only where no code of the user can have run since: each
//! program gives the same numbers as without.

use std::collections::BTreeMap;
use std::future::{IntoFuture, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, Waker};

use futures::StreamExt as _;
use futures::future::FutureExt as _;
use futures::stream::FuturesUnordered;
use turbowish_macros::instrument;
use turbowish_model::account::counters::Sum;

use super::stage::{EarlyBirths, advance, alone};
use crate::hot::call::{REUSE, at, call};
use crate::hot::probe::Other;
use crate::hot::proc::Proc;
use crate::hot::{proc, switch, task, thread};
use crate::monitor::Monitor;

type Boxed<T> = Pin<Box<dyn Future<Output = T>>>;
type Program = fn() -> Boxed<()>;

/// Takes time, and is pending once.
async fn step(before: u64, after: u64) {
    let mut polled = false;
    advance(before);
    poll_fn(|cx| {
        cx.waker().wake_by_ref();
        match std::mem::replace(&mut polled, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    advance(after);
}

/// Takes time before and after each poll, and when it is dropped.
struct Spun<F>(F);

impl<F: Future + Unpin> Future for Spun<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        advance(3);
        let polled = Pin::new(&mut self.0).poll(cx);
        advance(5);
        polled
    }
}

struct SlowDrop;

impl Drop for SlowDrop {
    fn drop(&mut self) {
        advance(7);
    }
}

#[instrument]
async fn leaf(work: u64) -> u64 {
    for nth in 0..3 {
        step(work, nth).await;
    }
    work
}

#[instrument]
async fn middle(work: u64) -> u64 {
    let done = leaf(work).await;
    advance(work);
    leaf(done + 1).await
}

#[instrument]
async fn straight() {
    middle(2).await;
    advance(11);
    middle(13).await;
}

#[instrument]
async fn spun() {
    Spun(Box::pin(middle(2))).await;
    middle(2).await;
    Spun(Box::pin(Spun(Box::pin(middle(4))))).await;
}

#[instrument]
async fn joined() {
    futures::join!(middle(2), Spun(Box::pin(leaf(3))), leaf(5));
    tokio::join!(middle(7), async {
        advance(1);
        leaf(3).await;
    });
    let _ = futures::try_join!(leaf(1).map(Ok::<u64, ()>), middle(2).map(Ok::<u64, ()>));
}

#[instrument]
async fn unordered() {
    let mut all: FuturesUnordered<Boxed<u64>> = FuturesUnordered::new();
    all.push(Box::pin(middle(2)));
    all.push(Box::pin(Spun(Box::pin(leaf(3)))));
    all.push(Box::pin(leaf(5)));
    while let Some(done) = all.next().await {
        advance(done);
    }
}

#[instrument]
async fn selected() {
    for _ in 0..3 {
        tokio::select! {
            biased;
            done = middle(2) => { leaf(done).await; }
            () = step(5, 1) => { advance(2); leaf(3).await; }
        }
        let (mut one, mut other) = (Box::pin(leaf(1)).fuse(), Box::pin(step(3, 1)).fuse());
        futures::select_biased! {
            _ = one => advance(1),
            () = other => { middle(2).await; }
        }
    }
}

#[instrument]
fn boxed(work: u64) -> Boxed<u64> {
    Box::pin(async move {
        let inner: Boxed<u64> = Box::pin(middle(work));
        inner.await + leaf(2).await
    })
}

#[instrument]
async fn awaits_boxed() {
    boxed(2).await;
    leaf(boxed(3).await).await;
}

/// Works before the call there is, and before each of its polls.
fn made(work: u64) -> impl Future<Output = u64> {
    advance(work);
    let mut inner = Box::pin(middle(work));
    poll_fn(move |cx| {
        advance(3);
        inner.as_mut().poll(cx)
    })
}

/// Works before the call there is, and hands it out as it is.
fn handed(work: u64) -> impl Future<Output = u64> {
    advance(work);
    middle(work)
}

struct Asked;

impl IntoFuture for Asked {
    type Output = u64;
    type IntoFuture = Boxed<u64>;

    fn into_future(self) -> Boxed<u64> {
        advance(9);
        Box::pin(middle(2))
    }
}

#[instrument]
async fn functions() {
    made(2).await;
    handed(3).await;
    Asked.await;
}

fn argument() -> u64 {
    advance(17);
    2
}

#[instrument]
async fn arguments() {
    leaf(argument()).await;
    leaf(argument() + leaf(argument()).await).await;
}

#[instrument]
async fn holds() {
    let _slow = SlowDrop;
    leaf(2).await;
    let _slow = SlowDrop;
    middle(2).await;
}

#[instrument]
async fn drops() {
    holds().await;
    // One that is dropped where it waits.
    let mut held = Box::pin(holds());
    for _ in 0..2 {
        let _ = futures::poll!(held.as_mut());
    }
    drop(held);
    leaf(2).await;
}

#[instrument]
async fn panics() {
    leaf(2).await;
    advance(4);
    resume_unwind(Box::new(()));
}

#[instrument]
async fn panics_in_a_chain() {
    let _slow = SlowDrop;
    panics().await;
}

#[instrument]
async fn catches() {
    let mut inner = Box::pin(panics_in_a_chain());
    poll_fn(|cx| {
        let polled = catch_unwind(AssertUnwindSafe(|| inner.as_mut().poll(cx)));
        polled.unwrap_or(Poll::Ready(()))
    })
    .await;
    leaf(3).await;
    let caught = AssertUnwindSafe(panics_in_a_chain()).catch_unwind().await;
    assert!(caught.is_err());
    leaf(2).await;
}

#[instrument]
async fn polled_before() {
    let mut child = pin!(middle(2));
    let _ = futures::poll!(child.as_mut());
    advance(3);
    child.await;
    // By value, as an instrumented call.
    let inner: Boxed<u64> = Box::pin(middle(3));
    let mut child = call(BEFORE.as_static(), Other, inner);
    let _ = Pin::new(&mut child).poll(&mut Context::from_waker(Waker::noop()));
    advance(4);
    child.await;
}

static BEFORE: Proc = Proc::new::<Spun<()>>("::polled_before_inner", "1 reuse.rs");

#[instrument]
async fn blocks_on() {
    leaf(1).await;
    block_on(middle(2));
    advance(2);
    leaf(1).await;
}

#[instrument]
async fn closures() {
    let twice = async |work: u64| {
        leaf(work).await;
        advance(work);
        middle(work).await
    };
    twice(2).await;
    Spun(Box::pin(twice(3))).await;
}

#[instrument]
#[tracing::instrument]
async fn traced(work: u64) -> u64 {
    leaf(work).await;
    middle(work).await
}

#[instrument]
#[tracing::instrument]
async fn traced_plain(work: u64) {
    let numbers = vec![work; 2];
    for number in numbers {
        traced(number).await;
    }
}

#[instrument]
async fn awaits_traced() {
    traced(2).await;
    traced_plain(3).await;
}

static LOST: Proc = Proc::lost();

/// A call that cannot be accounted stands between two that are.
#[instrument]
async fn beyond_the_limit() {
    let inner = Spun(Box::pin(middle(2)));
    call(LOST.as_static(), Other, inner).await;
    advance(2);
}

/// Two calls below one that is not accounted: neither is the operand of the await.
#[instrument]
async fn two_beyond_the_limit() {
    let both = async {
        futures::join!(middle(2), middle(3));
    };
    call(LOST.as_static(), Other, both).await;
}

/// Awaits by a macro that nobody knows, in a future that is polled by hand.
#[instrument]
async fn unseen() {
    macro_rules! own {
        ($awaited:expr) => {
            $awaited.await
        };
    }
    own!(Spun(Box::pin(middle(2))));
    own!(leaf(2));
    let place: &'static Proc = &BEFORE;
    at(place, 0, ());
    middle(1).await;
}

/// A subscriber that takes its time.
struct Slow;

impl tracing::Subscriber for Slow {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        advance(1);
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, _: &tracing::Event<'_>) {}

    fn enter(&self, _: &tracing::span::Id) {
        advance(19);
    }

    fn exit(&self, _: &tracing::span::Id) {
        advance(23);
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            return value;
        }
        advance(1);
    }
}

/// Running and yielded time by proc, and how often the clock was read.
fn account(program: fn() -> Boxed<()>, reuse: bool) -> BTreeMap<String, (u64, u64, u64, u64)> {
    thread::take_enrolled();
    REUSE.store(reuse, Relaxed);
    let monitor = Monitor::new("reuse".to_owned());
    monitor.arm();
    tracing::subscriber::with_default(Slow, || block_on(program()));
    monitor.disarm();
    REUSE.store(true, Relaxed);
    let (totals, _) = monitor.totals();
    let names = proc::all();
    let procs = totals.aggregate.procs.iter().enumerate();
    let running: u64 = procs.clone().map(|(_, proc)| proc.sum(Sum::Running)).sum();
    assert_eq!(running, totals.busy.values().sum::<u64>());
    procs
        .filter(|(_, proc)| proc.sum(Sum::Calls) > 0)
        .map(|(id, proc)| {
            let times = (
                proc.sum(Sum::Running),
                proc.sum(Sum::Hold),
                proc.sum(Sum::Wall),
                proc.sum(Sum::Unstarted),
            );
            (names[id].path.to_string(), times)
        })
        .collect()
}

fn check(name: &str, program: fn() -> Boxed<()>) {
    let (with, without) = (account(program, true), account(program, false));
    assert_eq!(with, without, "{name}");
    assert!(
        with.values().any(|&(running, ..)| running > 0),
        "{name} does something"
    );
}

#[test]
fn no_time_moves_between_procs() {
    let alone = alone();
    let _early = EarlyBirths::of(&alone);
    switch::disarm();
    let programs: &[(&str, Program)] = &[
        ("straight", || Box::pin(straight())),
        ("spun", || Box::pin(spun())),
        ("joined", || Box::pin(joined())),
        ("unordered", || Box::pin(unordered())),
        ("selected", || Box::pin(selected())),
        ("boxed", || Box::pin(awaits_boxed())),
        ("functions", || Box::pin(functions())),
        ("arguments", || Box::pin(arguments())),
        ("drops", || Box::pin(drops())),
        ("catches", || Box::pin(catches())),
        ("polled before", || Box::pin(polled_before())),
        ("blocks on", || Box::pin(blocks_on())),
        ("closures", || Box::pin(closures())),
        ("traced", || Box::pin(awaits_traced())),
        ("beyond the limit", || Box::pin(beyond_the_limit())),
        ("two beyond the limit", || Box::pin(two_beyond_the_limit())),
        ("unseen", || Box::pin(unseen())),
    ];
    let failed = programs
        .iter()
        .filter(|(name, program)| catch_unwind(|| check(name, *program)).is_err());
    let failed: Vec<&str> = failed.map(|(name, _)| *name).collect();
    assert_eq!(failed, [""; 0], "time moves");
}

#[test]
fn calls_below_one_that_is_not_accounted_are_no_tasks() {
    let _alone = alone();
    let monitor = Monitor::new("reuse".to_owned());
    let before = task::all().len();
    monitor.arm();
    let mut root = Box::pin(two_beyond_the_limit());
    for _ in 0..3 {
        let polled = root.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
        assert_eq!(task::all().len(), before + 1);
    }
    drop(root);
    monitor.disarm();
}
