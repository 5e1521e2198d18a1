//! What a call, a poll and a level of a chain cost: annotated against plain, in one run, as
//! differences.
//!
//! `cargo bench --bench calls` prints the smallest of many interleaved rounds; run it on a quiet
//! machine. Words after `--` keep the lines that contain them all.

use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

const ROUNDS: usize = 60;
const CALLS: u32 = 20_000;

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

macro_rules! workloads {
    ($module:ident, $(#[$attribute:meta])*) => {
        $(#[$attribute])*
        mod $module {
            use super::{Yield, black_box, Pin};

            pub(super) async fn leaf(x: u32) -> u32 {
                black_box(x) + 1
            }

            pub(super) async fn calls(n: u32) {
                for i in 0..n {
                    black_box(leaf(i).await);
                }
            }

            pub(super) async fn yields(n: u32) {
                Yield(n).await;
            }

            pub(super) async fn chain(depth: u32, n: u32) {
                if depth == 0 {
                    Yield(n).await;
                } else {
                    boxed(depth, n).await;
                }
            }

            /// A level of the chain: a call that awaits a call of its own.
            pub(super) async fn four(n: u32) { three(n).await }
            pub(super) async fn three(n: u32) { two(n).await }
            pub(super) async fn two(n: u32) { one(n).await }
            pub(super) async fn one(n: u32) { Yield(n).await }
            pub(super) async fn sixteen(n: u32) { c1(n).await }
            async fn c1(n: u32) { c2(n).await }
            async fn c2(n: u32) { c3(n).await }
            async fn c3(n: u32) { c4(n).await }
            async fn c4(n: u32) { c5(n).await }
            async fn c5(n: u32) { c6(n).await }
            async fn c6(n: u32) { c7(n).await }
            async fn c7(n: u32) { c8(n).await }
            async fn c8(n: u32) { c9(n).await }
            async fn c9(n: u32) { c10(n).await }
            async fn c10(n: u32) { c11(n).await }
            async fn c11(n: u32) { c12(n).await }
            async fn c12(n: u32) { four(n).await }

            fn boxed(depth: u32, n: u32) -> Pin<Box<dyn Future<Output = ()>>> {
                Box::pin(chain(depth - 1, n))
            }
        }
    };
}

workloads!(plain,);
workloads!(annotated, #[turbowish::instrument]);

/// Polls to the end; nanoseconds.
fn drive(future: impl Future<Output = ()>) -> f64 {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    let start = Instant::now();
    while future.as_mut().poll(&mut context).is_pending() {}
    start.elapsed().as_nanos() as f64
}

/// Smallest time per unit of each of the two, interleaved.
fn compare(
    name: &str,
    units: u32,
    mut plain: impl FnMut() -> f64,
    mut annotated: impl FnMut() -> f64,
) {
    if !std::env::args()
        .skip(1)
        .all(|word| word.starts_with('-') || name.contains(&word))
    {
        return;
    }
    let (mut least_plain, mut least_annotated) = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        least_plain = least_plain.min(plain());
        least_annotated = least_annotated.min(annotated());
    }
    let (plain, annotated) = (
        least_plain / f64::from(units),
        least_annotated / f64::from(units),
    );
    println!(
        "{name:<34} plain {plain:7.2} ns   annotated {annotated:7.2} ns   adds {:7.2} ns",
        annotated - plain
    );
}

fn all(state: &str) {
    let n = CALLS;
    compare(
        &format!("{state}: call, never yields"),
        n,
        || drive(plain::calls(n)),
        || drive(annotated::calls(n)),
    );
    compare(
        &format!("{state}: yield, per poll"),
        n,
        || drive(plain::yields(n)),
        || drive(annotated::yields(n)),
    );
    compare(
        &format!("{state}: chain of 4, per poll and level"),
        n * 4,
        || drive(plain::four(n)),
        || drive(annotated::four(n)),
    );
    compare(
        &format!("{state}: chain of 16, per poll and level"),
        n * 16,
        || drive(plain::sixteen(n)),
        || drive(annotated::sixteen(n)),
    );
    compare(
        &format!("{state}: 16 boxed, per poll and level"),
        n * 16,
        || drive(plain::chain(16, n)),
        || drive(annotated::chain(16, n)),
    );
}

fn main() {
    all("disarmed");
    let _turbowish = turbowish::init();
    all("armed");
}
