//! A program that uses every feature and is healthy.

use std::sync::Arc;
use std::time::Duration;

use turbowish::sync::mpsc::{self, Receiver, Sender};
use turbowish::sync::{Mutex, Notify, OwnedMutexGuard, Semaphore, named, oneshot};

type Reply = oneshot::Sender<u64>;

#[turbowish::instrument]
async fn serve(mut requests: Receiver<(u64, Reply)>, total: Arc<Mutex<u64>>) {
    while let Some((request, reply)) = requests.recv().await {
        let mut total = total.lock().await;
        *total += request;
        let _ = reply.send(*total);
    }
}

#[turbowish::instrument]
async fn ask(requests: Sender<(u64, Reply)>, permits: Arc<Semaphore>) {
    for request in 0.. {
        let permit = permits.acquire().await;
        let (reply, answer) = oneshot::channel();
        if requests.send((request, reply)).await.is_err() {
            return;
        }
        drop(permit);
        tokio::select! {
            _ = answer => {}
            () = tokio::time::sleep(Duration::from_secs(5)) => {}
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[turbowish::instrument]
async fn hand_on(lock: Arc<Mutex<u64>>) {
    loop {
        let guard = lock.clone().lock_owned().await;
        let keeper = turbowish::spawn(keep(guard));
        // Held, but not by this task.
        *lock.lock().await += 1;
        let _ = keeper.await;
    }
}

#[turbowish::instrument]
async fn keep(guard: OwnedMutexGuard<u64>) {
    tokio::time::sleep(Duration::from_secs(1)).await;
    drop(guard);
}

/// Is polled while accounting is paused, and not for long after it.
#[turbowish::instrument]
async fn park(turn: Arc<tokio::sync::Notify>) {
    loop {
        turn.notified().await;
    }
}

#[turbowish::instrument]
async fn idle(stop: Arc<Notify>) {
    stop.notified().await;
}

/// Takes its time, where nobody waits for the thread.
#[turbowish::instrument]
fn crunch() {
    std::thread::sleep(Duration::from_secs(3));
}

/// As often as it is a habit.
#[turbowish::instrument]
fn chew() {
    std::thread::sleep(Duration::from_millis(1_100));
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let (requests, queue) = named("requests", mpsc::channel(16));
    let total = Arc::new(named("total", Mutex::new(0)));
    let permits = Arc::new(named("permits", Semaphore::new(4)));
    let stop = Arc::new(named("stop", Notify::new()));
    turbowish::spawn(serve(queue, total));
    tokio::task::spawn_blocking(crunch);
    std::thread::spawn(crunch);
    std::thread::spawn(|| (0..8).for_each(|_| chew()));
    for _ in 0..8 {
        turbowish::spawn(ask(requests.clone(), permits.clone()));
    }
    turbowish::spawn(hand_on(Arc::new(named("handed on", Mutex::new(0)))));
    let turn = Arc::new(tokio::sync::Notify::new());
    turbowish::spawn(park(turn.clone()));
    tokio::time::sleep(Duration::from_millis(300)).await;
    turbowish::disarm();
    turn.notify_waiters();
    tokio::time::sleep(Duration::from_millis(100)).await;
    turbowish::arm();
    idle(stop).await;
}
