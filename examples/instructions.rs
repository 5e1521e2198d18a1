//! Runs one accounting operation 10,000 times inside [`measured`], for callgrind to count.
//!
//! `benches/instructions.sh` runs it; without callgrind, `instructions NAME` prints nothing.
//! `instructions --threads` prints how long each operation takes, if one thread does it, and if two
//! do at once.

use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Instant;

/// Operations counted.
const OPERATIONS: u32 = 10_000;

/// Pending once for every poll but the last.
struct Yield(u32);

impl Future for Yield {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.0 -= 1;
        if self.0 == 0 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

#[turbowish::instrument]
async fn leaf(x: u32) -> u32 {
    black_box(x) + 1
}

#[turbowish::instrument]
async fn calls(n: u32) {
    for x in 0..n {
        black_box(leaf(x).await);
    }
}

/// The same, for other callers: what is called at more places is compiled in another way.
#[turbowish::instrument]
async fn lone(x: u32) -> u32 {
    black_box(x) + 1
}

#[turbowish::instrument]
async fn yields(n: u32) {
    Yield(n).await;
}

/// Waits once at each of two await points, in turn.
#[turbowish::instrument]
async fn moves(n: u32) {
    for _ in 0..n / 2 {
        Yield(2).await;
        Yield(2).await;
    }
}

#[turbowish::instrument]
async fn awaits(n: u32) {
    for _ in 0..n {
        std::future::ready(()).await;
    }
}

macro_rules! chain {
    ($name:ident $below:ident $($rest:ident)*) => {
        #[turbowish::instrument]
        async fn $name(n: u32) {
            $below(n).await;
        }
        chain! { $below $($rest)* }
    };
    ($name:ident) => {
        #[turbowish::instrument]
        async fn $name(n: u32) {
            Yield(n).await;
        }
    };
}

chain! { c16 c15 c14 c13 c12 c11 c10 c9 c8 c7 c6 c5 c4 c3 c2 c1 }

/// Woken by reference and pending, so often; then ready.
struct Again(u32);

impl Future for Again {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Pending so often, with its waker kept, as a socket does; then ready.
struct Kept(u32, Option<Waker>);

impl Future for Kept {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        match &self.1 {
            Some(kept) if kept.will_wake(cx.waker()) => {}
            _ => self.1 = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

#[turbowish::instrument]
async fn keeps(n: u32) {
    Kept(n, None).await;
}

#[turbowish::instrument]
async fn agains(n: u32) {
    Again(n).await;
}

#[turbowish::instrument]
async fn join(n: u32) {
    tokio::join!(agains(n), agains(n), agains(n));
}

fn drive(future: impl Future<Output = ()>) {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    while future.as_mut().poll(&mut context).is_pending() {}
}

/// Requests that wait once, each a task of its own: a chain of five.
fn requests(n: u32) {
    for _ in 0..n {
        drive(c5(2));
    }
}

/// Calls from code without the attribute that return in their first poll: each is a task's root.
fn root_calls(n: u32) {
    drive(async move {
        for x in 0..n {
            black_box(lone(x).await);
        }
    });
}

/// The same, each of which waits five times.
fn root_waits(n: u32) {
    for _ in 0..n {
        drive(agains(5));
    }
}

/// Joins whose calls wait ten times, each a task of its own.
fn joins(n: u32) {
    for _ in 0..n {
        drive(join(10));
    }
}

fn create_and_drop(n: u32) {
    for x in 0..n {
        drop(black_box(leaf(x)));
    }
}

/// Name, whether accounting is on, the work of so many operations, operations in each.
type Workload = (&'static str, bool, fn(u32), u32);

const WORKLOADS: &[Workload] = &[
    ("disarmed, poll", false, |n| drive(yields(n)), 1),
    ("disarmed, call", false, |n| drive(calls(n)), 1),
    ("disarmed, root call", false, root_calls, 1),
    ("poll, pending", true, |n| drive(yields(n)), 1),
    ("poll, waker kept", true, |n| drive(keeps(n)), 1),
    ("poll, moved and pending", true, |n| drive(moves(n)), 1),
    ("call, one poll, ready", true, |n| drive(calls(n)), 1),
    ("root call, one poll, ready", true, root_calls, 1),
    ("root call, six polls", true, root_waits, 1),
    ("create and drop", true, create_and_drop, 1),
    ("chain of 16, poll and level", true, |n| drive(c16(n)), 16),
    ("await of another future", true, |n| drive(awaits(n)), 1),
    ("join of three, poll and call", true, |n| drive(join(n)), 4),
    ("join of three, whole", true, joins, 1),
    ("request, five calls, one wait", true, requests, 1),
];

/// What callgrind is told to count.
#[inline(never)]
fn measured(work: fn(u32)) {
    work(black_box(OPERATIONS));
}

/// Nanoseconds an operation, if so many threads do it at once.
fn duration((_, _, work, each): Workload, threads: usize) -> f64 {
    const TIMES: u32 = 10;
    let one = move || {
        work(OPERATIONS);
        let begun = Instant::now();
        (0..TIMES).for_each(|_| work(black_box(OPERATIONS)));
        begun.elapsed().as_nanos() as f64 / f64::from(OPERATIONS * TIMES * each)
    };
    let threads: Vec<_> = (0..threads).map(|_| thread::spawn(one)).collect();
    let count = threads.len() as f64;
    let times = threads
        .into_iter()
        .map(|thread| thread.join().expect("no panic"));
    times.sum::<f64>() / count
}

/// Prints each operation of one thread, of each of two at once, and the ratio: the least of 15
/// rounds.
fn compare_threads() {
    let _turbowish = turbowish::init();
    println!("{:30} {:>8} {:>8} {:>7}", "ns", "1 thread", "2", "ratio");
    for &workload in WORKLOADS.iter().filter(|(_, armed, ..)| *armed) {
        let mut least = [f64::MAX; 2];
        for _ in 0..15 {
            for (least, threads) in least.iter_mut().zip([1, 2]) {
                *least = least.min(duration(workload, threads));
            }
        }
        let [one, two] = least;
        println!("{:30} {one:8.1} {two:8.1} {:7.2}", workload.0, two / one);
    }
}

fn main() -> std::process::ExitCode {
    let Some(name) = std::env::args().nth(1) else {
        for (name, _, _, each) in WORKLOADS {
            println!("{name}\t{}", OPERATIONS * each);
        }
        return std::process::ExitCode::SUCCESS;
    };
    if name == "--threads" {
        compare_threads();
        return std::process::ExitCode::SUCCESS;
    }
    let Some((_, armed, work, _)) = WORKLOADS.iter().find(|workload| workload.0 == name) else {
        eprintln!("instructions: no workload {name}");
        return std::process::ExitCode::from(2);
    };
    let _turbowish = armed.then(turbowish::init);
    work(OPERATIONS);
    measured(*work);
    std::process::ExitCode::SUCCESS
}
