//! Futures are dropped half-way or unpolled without loss; lock orders never conflict. Healthy.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{interval, sleep, timeout};
use turbowish::sync::mpsc::{self, Receiver, Sender, UnboundedSender};
use turbowish::sync::{Mutex, Notify, OwnedMutexGuard, named};

const BEAT: Duration = Duration::from_millis(7);

#[turbowish::instrument]
async fn read_frame(bytes: &mut Receiver<u8>) -> Vec<u8> {
    let mut frame = Vec::new();
    while frame.len() < 3 {
        frame.extend(bytes.recv().await);
    }
    frame
}

/// One step that takes nothing unless it is ready.
#[turbowish::instrument]
async fn next(bytes: &mut Receiver<u8>) -> Option<u8> {
    bytes.recv().await
}

/// The future is kept from one turn to the next.
#[turbowish::instrument]
async fn keep(mut bytes: Receiver<u8>) {
    let mut ticks = interval(BEAT);
    loop {
        let mut frame = pin!(read_frame(&mut bytes));
        loop {
            tokio::select! {
                frame = &mut frame => {
                    std::hint::black_box(frame);
                    break;
                }
                _ = ticks.tick() => {}
            }
        }
    }
}

/// Branches that are one step each, and some that are dropped before they begin.
#[turbowish::instrument]
async fn step(mut bytes: Receiver<u8>, jobs: Sender<u64>, lock: Arc<Mutex<u64>>) {
    let mut ticks = interval(BEAT);
    loop {
        tokio::select! {
            byte = bytes.recv() => {
                std::hint::black_box(byte);
            }
            _ = ticks.tick() => {}
            permit = jobs.reserve() => {
                permit.expect("it is open").send(1);
                sleep(Duration::from_millis(1)).await;
            }
            () = locked(&lock) => {}
        }
        tokio::select! {
            byte = next(&mut bytes) => {
                std::hint::black_box(byte);
            }
            () = std::future::ready(()) => {}
        }
    }
}

/// What was locked is given back before the wait.
#[turbowish::instrument]
async fn locked(lock: &Mutex<u64>) {
    *lock.lock().await += 1;
    sleep(Duration::from_secs(1)).await;
}

/// It never ends by itself: whoever drops it while it waits takes nothing from it.
#[turbowish::instrument]
async fn consume(jobs: &mut Receiver<u64>) {
    loop {
        std::hint::black_box(jobs.recv().await);
        sleep(Duration::from_millis(2)).await;
    }
}

/// It sends, and waits for the time to send again.
#[turbowish::instrument]
async fn ping(pings: &UnboundedSender<u8>) {
    loop {
        let _ = pings.send(0);
        sleep(Duration::from_secs(1)).await;
    }
}

#[turbowish::instrument]
async fn in_shifts(mut jobs: Receiver<u64>, pings: UnboundedSender<u8>) {
    loop {
        let _ = timeout(BEAT, consume(&mut jobs)).await;
        tokio::select! {
            () = ping(&pings) => {}
            () = consume(&mut jobs) => {}
            () = sleep(BEAT) => {}
        }
    }
}

#[turbowish::instrument]
async fn count(mut pings: mpsc::UnboundedReceiver<u8>) {
    while timeout(Duration::from_secs(60), pings.recv()).await.is_ok() {}
}

/// One of the locks is always taken first, or is had by nobody else when the other is asked for.
#[turbowish::instrument]
async fn in_order(locks: [Arc<Mutex<u64>>; 3], way: usize) {
    loop {
        let gate = locks[2].lock().await;
        let first = locks[way].lock().await;
        let second = locks[1 - way].lock().await;
        drop((second, first, gate));
        drop(locks[0].lock().await);
        drop(locks[1].lock().await);
        sleep(Duration::from_millis(1)).await;
    }
}

/// The first guard is somebody else's when the second is asked for, in both orders.
#[turbowish::instrument]
async fn hand_over(locks: [Arc<Mutex<u64>>; 2]) {
    loop {
        let guard = locks[0].clone().lock_owned().await;
        let keeper = turbowish::spawn(end(guard));
        drop(locks[1].lock().await);
        let _ = keeper.await;
    }
}

#[turbowish::instrument]
async fn end(guard: OwnedMutexGuard<u64>) {
    sleep(Duration::from_millis(1)).await;
    drop(guard);
}

/// Branches of one task hold and ask, each for itself.
#[turbowish::instrument]
async fn beside(locks: [Arc<Mutex<u64>>; 2]) {
    loop {
        tokio::join!(hold(&locks[0]), hold(&locks[1]));
    }
}

#[turbowish::instrument]
async fn hold(lock: &Mutex<u64>) {
    let guard = lock.lock().await;
    sleep(Duration::from_millis(1)).await;
    drop(guard);
}

/// A few branches, of which one is for the end alone.
#[turbowish::instrument]
async fn until(stop: Arc<Notify>, mut bytes: Receiver<u8>) {
    let mut stopped = pin!(stopped(&stop));
    loop {
        tokio::select! {
            () = &mut stopped => return,
            byte = bytes.recv() => {
                std::hint::black_box(byte);
            }
        }
    }
}

#[turbowish::instrument]
async fn stopped(stop: &Notify) {
    stop.notified().await;
}

#[turbowish::instrument]
async fn write(bytes: Sender<u8>) {
    loop {
        let _ = bytes.send(0).await;
        sleep(Duration::from_millis(1)).await;
    }
}

#[turbowish::instrument]
async fn produce(jobs: Sender<u64>) {
    loop {
        let _ = jobs.send(0).await;
        sleep(Duration::from_millis(3)).await;
    }
}

fn stream() -> Receiver<u8> {
    let (bytes, stream) = mpsc::channel(16);
    turbowish::spawn(write(bytes));
    stream
}

#[tokio::main]
async fn main() {
    let _turbowish =
        turbowish_pitfalls::begin(&[turbowish::AlertLimit::Window(Duration::from_millis(300))]);
    let (jobs, queue) = named("jobs", mpsc::channel(16));
    let (pings, pinged) = named("pings", mpsc::unbounded_channel());
    let lock = || Arc::new(Mutex::new(0));
    let (a, b, gate) = (lock(), lock(), lock());
    turbowish::spawn(keep(stream()));
    turbowish::spawn(step(stream(), jobs.clone(), lock()));
    turbowish::spawn(in_shifts(queue, pings));
    turbowish::spawn(count(pinged));
    turbowish::spawn(until(Arc::new(Notify::new()), stream()));
    turbowish::spawn(in_order([a.clone(), b.clone(), gate.clone()], 0));
    turbowish::spawn(in_order([a, b, gate], 1));
    let (a, b) = (lock(), lock());
    turbowish::spawn(hand_over([a.clone(), b.clone()]));
    turbowish::spawn(hand_over([b, a]));
    let (a, b) = (lock(), lock());
    turbowish::spawn(beside([a.clone(), b.clone()]));
    turbowish::spawn(beside([b, a]));
    produce(jobs).await;
}
