//! Very many waiting tasks, 500 procs, and a few busy tasks: the cost of a console for such a
//! program.
//!
//! `cargo run --release --features server,tokio --example crowd -- [TASKS [WORKERS [STALL]]]`
//! (100,000, 1 and 0 by default). STALL, in ms: one more task blocks its worker that long, every 3
//! s. Once all tasks wait the program prints a line every 100 ms: milliseconds since the Unix
//! epoch, and operations so far. `benches/console-open.sh` reads them.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::Notify;

/// Tasks that work, for each worker.
const BUSY: usize = 8;

type Park = fn(Arc<Notify>) -> tokio::task::JoinHandle<()>;

/// A proc for each pair of words, and a task at its root.
macro_rules! procs {
    ($($module:ident)*) => {
        $(mod $module {
            procs! { @each p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12 p13 p14 p15 p16 p17 p18 p19 p20 p21 p22 p23 p24 }
        })*
        fn parks() -> Vec<Park> {
            [$($module::parks()),*].concat()
        }
    };
    (@each $($name:ident)*) => {
        $(#[turbowish::instrument]
        async fn $name(end: std::sync::Arc<tokio::sync::Notify>) {
            super::wait(end).await;
        })*
        pub(super) fn parks() -> Vec<super::Park> {
            vec![$(|end| tokio::spawn($name(end))),*]
        }
    };
}

procs! { m0 m1 m2 m3 m4 m5 m6 m7 m8 m9 m10 m11 m12 m13 m14 m15 m16 m17 m18 m19 }

#[turbowish::instrument]
async fn wait(end: Arc<Notify>) {
    end.notified().await;
}

#[turbowish::instrument]
async fn compute(seed: u64) -> u64 {
    // About as long as it takes to parse a request.
    let mix = |x: u64| (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    std::hint::black_box((0..400).fold(seed, |x, _| mix(x)))
}

#[turbowish::instrument]
async fn work(done: &'static AtomicU64) {
    let mut x = 1;
    loop {
        x = compute(x).await;
        done.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
    }
}

#[turbowish::instrument]
async fn stall(length: Duration) {
    loop {
        tokio::time::sleep(Duration::from_secs(3)).await;
        std::thread::sleep(length);
    }
}

fn number(nth: usize, otherwise: usize) -> usize {
    let Some(word) = std::env::args().nth(nth) else {
        return otherwise;
    };
    word.parse().unwrap_or_else(|_| {
        eprintln!("crowd: {word} is not a number; crowd [TASKS [WORKERS [STALL]]]");
        std::process::exit(2)
    })
}

fn main() {
    static DONE: AtomicU64 = AtomicU64::new(0);
    let _turbowish = turbowish::init();
    let (tasks, workers) = (number(1, 100_000), number(2, 1).max(1));
    let length = Duration::from_millis(number(3, 0) as u64);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_time()
        .build()
        .expect("a runtime");
    let end = Arc::new(Notify::new());
    let parks = parks();
    let inside = runtime.enter();
    for nth in 0..tasks {
        parks[nth % parks.len()](end.clone());
    }
    for _ in 0..workers * BUSY {
        tokio::spawn(work(&DONE));
    }
    if !length.is_zero() {
        tokio::spawn(stall(length));
    }
    drop(inside);
    let mut out = std::io::stdout().lock();
    loop {
        std::thread::sleep(Duration::from_millis(100));
        let at = SystemTime::now().duration_since(UNIX_EPOCH);
        let at = at.unwrap_or_default().as_millis();
        let told = writeln!(out, "{at} {}", DONE.load(Ordering::Relaxed));
        if told.and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}
