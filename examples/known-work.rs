//! Known work: a parent spins 10 ms, its child 20 ms and sleeps 100 ms between, three levels, fifty times.
//!
//! Also recursion, a call that a timeout drops, one that panics, and a task that keeps another one
//! waiting for the worker. Run it with a report:
//! `TURBOWISH_REPORT=1 cargo run --release --example known-work [ROUNDS]`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

/// Turns of the two tasks of which one delays the other.
const TURNS: u32 = 5;

/// Keeps the thread busy, as computing does.
fn spin(ms: u64) {
    let end = Instant::now() + Duration::from_millis(ms);
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

#[turbowish::instrument]
mod work {
    use super::{Arc, Duration, Notify, TURNS, sleep, spin, yield_now};

    pub(super) async fn parent() {
        spin(5);
        child().await;
        spin(5);
    }

    async fn child() {
        spin(10);
        sleep(Duration::from_millis(100)).await;
        grandchild().await;
        spin(10);
    }

    async fn grandchild() {
        spin(15);
        sleep(Duration::from_millis(10)).await;
        spin(15);
    }

    pub(super) async fn fib(n: u32) -> u64 {
        if n < 2 {
            spin(1);
            return u64::from(n);
        }
        Box::pin(fib(n - 1)).await + Box::pin(fib(n - 2)).await
    }

    pub(super) async fn too_slow() {
        spin(2);
        sleep(Duration::from_secs(3600)).await;
    }

    pub(super) async fn panics() {
        spin(2);
        sleep(Duration::from_millis(1)).await;
        panic!("as announced");
    }

    /// Is woken by `compact`, which keeps the worker after that.
    pub(super) async fn handle(turns: Arc<Notify>) {
        for _ in 0..TURNS {
            turns.notified().await;
        }
    }

    pub(super) async fn compact(turns: Arc<Notify>) {
        chunks(&turns).await;
    }

    async fn chunks(turns: &Notify) {
        for _ in 0..TURNS {
            turns.notify_one();
            spin(20);
            yield_now().await;
        }
    }

    pub(super) async fn fails() -> Result<(), String> {
        spin(2);
        Err("as announced".to_owned())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let _turbowish = turbowish::init();
    let rounds = std::env::args()
        .nth(1)
        .and_then(|rounds| rounds.parse().ok());
    for _ in 0..rounds.unwrap_or(50) {
        work::parent().await;
    }
    assert_eq!(work::fib(7).await, 13);
    assert!(
        timeout(Duration::from_millis(20), work::too_slow())
            .await
            .is_err()
    );
    assert!(tokio::spawn(work::panics()).await.is_err());
    assert!(work::fails().await.is_err());
    drop(work::too_slow());
    let turns = Arc::<Notify>::default();
    let handle = tokio::spawn(work::handle(turns.clone()));
    let compact = tokio::spawn(work::compact(turns));
    assert!(handle.await.is_ok() && compact.await.is_ok());
}
