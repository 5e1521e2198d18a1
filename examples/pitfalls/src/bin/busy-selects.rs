//! `select!` loops, `FuturesUnordered`, `buffered` under load: futures idle, then resume. Healthy.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, FuturesUnordered};
use turbowish::sync::mpsc::{self, Receiver, Sender};
use turbowish::sync::{Mutex, Notify, named};

#[turbowish::instrument]
async fn add(total: Arc<Mutex<u64>>, n: u64) -> u64 {
    let mut total = total.lock().await;
    *total += n;
    tokio::task::yield_now().await;
    *total
}

/// One future is polled by many rounds of a loop, and beside others.
#[turbowish::instrument]
async fn select(total: Arc<Mutex<u64>>, mut jobs: Receiver<u64>, tick: Arc<Notify>) {
    let mut adding = Box::pin(add(total.clone(), 1));
    loop {
        tokio::select! {
            _ = &mut adding => adding = Box::pin(add(total.clone(), 2)),
            Some(job) = jobs.recv() => {
                std::hint::black_box(job);
            }
            () = tick.notified() => {}
            () = tokio::time::sleep(Duration::from_millis(1)) => {}
        }
    }
}

#[turbowish::instrument]
async fn unordered(total: Arc<Mutex<u64>>) {
    loop {
        let mut adds: FuturesUnordered<_> = (0..4).map(|n| add(total.clone(), n)).collect();
        while let Some(sum) = adds.next().await {
            std::hint::black_box(sum);
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[turbowish::instrument]
async fn buffered(total: Arc<Mutex<u64>>) {
    loop {
        let mut adds = stream::iter(0..50)
            .map(|n| add(total.clone(), n))
            .buffered(2);
        while let Some(sum) = adds.next().await {
            std::hint::black_box(sum);
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[turbowish::instrument]
async fn send(jobs: Sender<u64>, tick: Arc<Notify>) {
    for job in 0.. {
        if jobs.send(job).await.is_err() {
            return;
        }
        tick.notify_one();
        if job % 64 == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let total = Arc::new(named("total", Mutex::new(0)));
    let tick = Arc::new(named("tick", Notify::new()));
    let (jobs, queue) = named("jobs", mpsc::channel(16));
    turbowish::spawn(select(total.clone(), queue, tick.clone()));
    turbowish::spawn(send(jobs, tick));
    turbowish::spawn(unordered(total.clone()));
    turbowish::spawn(buffered(total));
    std::future::pending::<()>().await;
}
