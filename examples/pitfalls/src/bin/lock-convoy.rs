//! A notification wakes all tasks, and all want the same lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use turbowish::sync::{Mutex, Notify, named};

const GUESTS: usize = 24;

/// Who is about to listen for the bell: it does not ring for an empty table.
static SEATED: AtomicUsize = AtomicUsize::new(0);

#[turbowish::instrument]
async fn eat(bell: Arc<Notify>, spoon: Arc<Mutex<u64>>) {
    loop {
        SEATED.fetch_add(1, Ordering::Relaxed);
        bell.notified().await;
        let mut spoon = spoon.lock().await;
        *spoon += 1;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[turbowish::instrument]
async fn ring(bell: Arc<Notify>) {
    while SEATED.load(Ordering::Relaxed) < GUESTS {
        tokio::task::yield_now().await;
    }
    loop {
        bell.notify_waiters();
        tokio::time::sleep(Duration::from_secs(4)).await;
    }
}

#[tokio::main]
async fn main() {
    let limits = [turbowish::AlertLimit::GuardAcrossAwaitHeld(
        Duration::from_secs(3600),
    )];
    let _turbowish = turbowish_pitfalls::begin(&limits);
    let bell = Arc::new(named("bell", Notify::new()));
    let spoon = Arc::new(named("spoon", Mutex::new(0)));
    for number in 0..GUESTS {
        let guest = turbowish::TaskBuilder::new().name(format!("guest-{number}"));
        guest.spawn(eat(bell.clone(), spoon.clone()));
    }
    turbowish::TaskBuilder::new()
        .name("bell")
        .task(ring(bell))
        .await;
}
