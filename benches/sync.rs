//! What a lock, a send and a receive cost over tokio's own while nobody is in the way, in one run,
//! as differences.
//!
//! `cargo bench --features tokio --bench sync` prints the smallest of many interleaved rounds,
//! after half a minute; run it on a quiet machine. Words after `--` keep the lines that contain
//! them all.

use std::time::Duration;

const ROUNDS: usize = 200;
const ITEMS: u32 = 10_000;

macro_rules! workloads {
    ($module:ident, $($sync:tt)*) => {
        #[turbowish::instrument]
        mod $module {
            use std::hint::black_box;
            use std::sync::Arc;
            use std::time::{Duration, Instant};

            use $($sync)*::{Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};

            pub(super) async fn lock(n: u32) -> Duration {
                let mutex = Mutex::new(0);
                let start = Instant::now();
                for _ in 0..n {
                    *mutex.lock().await += 1;
                }
                start.elapsed()
            }

            pub(super) async fn try_lock(n: u32) -> Duration {
                let mutex = Mutex::new(0);
                let start = Instant::now();
                for _ in 0..n {
                    *mutex.try_lock().expect("free") += 1;
                }
                start.elapsed()
            }

            pub(super) async fn lock_owned(n: u32) -> Duration {
                let mutex = Arc::new(Mutex::new(0));
                let start = Instant::now();
                for _ in 0..n {
                    *mutex.clone().lock_owned().await += 1;
                }
                start.elapsed()
            }

            pub(super) async fn read(n: u32) -> Duration {
                let lock = RwLock::new(0);
                let start = Instant::now();
                for _ in 0..n {
                    black_box(*lock.read().await);
                }
                start.elapsed()
            }

            pub(super) async fn write(n: u32) -> Duration {
                let lock = RwLock::new(0);
                let start = Instant::now();
                for _ in 0..n {
                    *lock.write().await += 1;
                }
                start.elapsed()
            }

            pub(super) async fn acquire(n: u32) -> Duration {
                let permits = Semaphore::new(5);
                let start = Instant::now();
                for _ in 0..n {
                    drop(permits.acquire().await.expect("open"));
                }
                start.elapsed()
            }

            pub(super) async fn acquire_owned(n: u32) -> Duration {
                let permits = Arc::new(Semaphore::new(5));
                let start = Instant::now();
                for _ in 0..n {
                    drop(permits.clone().acquire_owned().await.expect("open"));
                }
                start.elapsed()
            }

            pub(super) async fn read_owned(n: u32) -> Duration {
                let lock = Arc::new(RwLock::new(0));
                let start = Instant::now();
                for _ in 0..n {
                    black_box(*lock.clone().read_owned().await);
                }
                start.elapsed()
            }

            pub(super) async fn write_owned(n: u32) -> Duration {
                let lock = Arc::new(RwLock::new(0));
                let start = Instant::now();
                for _ in 0..n {
                    *lock.clone().write_owned().await += 1;
                }
                start.elapsed()
            }

            pub(super) async fn notify(n: u32) -> Duration {
                let notify = Notify::new();
                let start = Instant::now();
                for _ in 0..n {
                    notify.notify_one();
                    notify.notified().await;
                }
                start.elapsed()
            }

            pub(super) async fn notify_owned(n: u32) -> Duration {
                let notify = Arc::new(Notify::new());
                let start = Instant::now();
                for _ in 0..n {
                    notify.notify_one();
                    notify.clone().notified_owned().await;
                }
                start.elapsed()
            }

            /// Sends, then receives: how long it took to do either.
            async fn bounded(n: u32) -> (Duration, Duration) {
                let (tx, mut rx) = mpsc::channel(n as usize);
                let start = Instant::now();
                for i in 0..n {
                    tx.send(i).await.expect("open");
                }
                let sent = start.elapsed();
                for _ in 0..n {
                    black_box(rx.recv().await);
                }
                (sent, start.elapsed() - sent)
            }

            pub(super) async fn send(n: u32) -> Duration {
                bounded(n).await.0
            }

            pub(super) async fn recv(n: u32) -> Duration {
                bounded(n).await.1
            }

            async fn unbounded(n: u32) -> (Duration, Duration) {
                let (tx, mut rx) = mpsc::unbounded_channel();
                let start = Instant::now();
                for i in 0..n {
                    tx.send(i).expect("open");
                }
                let sent = start.elapsed();
                let mut items = Vec::with_capacity(64);
                let mut left = n as usize;
                while left > 0 {
                    left -= rx.recv_many(&mut items, 64).await;
                    items.clear();
                }
                (sent, start.elapsed() - sent)
            }

            pub(super) async fn send_unbounded(n: u32) -> Duration {
                unbounded(n).await.0
            }

            pub(super) async fn recv_many(n: u32) -> Duration {
                unbounded(n).await.1
            }

            pub(super) async fn reserve(n: u32) -> Duration {
                let (tx, _rx) = mpsc::channel(n as usize);
                let start = Instant::now();
                for i in 0..n {
                    tx.reserve().await.expect("open").send(i);
                }
                start.elapsed()
            }

            pub(super) async fn clone(n: u32) -> Duration {
                let (tx, _rx) = mpsc::channel::<u32>(1);
                let start = Instant::now();
                for _ in 0..n {
                    black_box(tx.clone());
                }
                start.elapsed()
            }

            pub(super) async fn once(n: u32) -> Duration {
                let start = Instant::now();
                for i in 0..n {
                    let (tx, rx) = oneshot::channel();
                    tx.send(i).expect("open");
                    black_box(rx.await.expect("sent"));
                }
                start.elapsed()
            }

            pub(super) async fn all(n: u32) -> Duration {
                let (tx, mut rx) = broadcast::channel(4);
                let start = Instant::now();
                for i in 0..n {
                    tx.send(i).expect("a receiver");
                    black_box(rx.recv().await.expect("sent"));
                }
                start.elapsed()
            }

            pub(super) async fn latest(n: u32) -> Duration {
                let (tx, mut rx) = watch::channel(0);
                let start = Instant::now();
                for i in 0..n {
                    tx.send(i).expect("a receiver");
                    rx.changed().await.expect("sent");
                }
                start.elapsed()
            }
        }
    };
}

workloads!(theirs, tokio::sync);
workloads!(ours, turbowish::sync);

/// One of the two, all of it: how long its items took.
type Run = Box<dyn Fn() -> Duration>;

/// What is compared, and the least that each has taken.
struct Workload {
    name: &'static str,
    runs: [Run; 2],
    least: [Duration; 2],
}

fn workload<T, O>(
    name: &'static str,
    theirs: impl Fn(u32) -> T + 'static,
    ours: impl Fn(u32) -> O + 'static,
) -> Workload
where
    T: Future<Output = Duration>,
    O: Future<Output = Duration>,
{
    Workload {
        name,
        runs: [run(theirs), run(ours)],
        least: [Duration::MAX; 2],
    }
}

fn run<F: Future<Output = Duration>>(work: impl Fn(u32) -> F + 'static) -> Run {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("a runtime");
    Box::new(move || runtime.block_on(work(ITEMS)))
}

fn all() -> Vec<Workload> {
    vec![
        workload("lock and unlock", theirs::lock, ours::lock),
        workload("try_lock", theirs::try_lock, ours::try_lock),
        workload("lock_owned", theirs::lock_owned, ours::lock_owned),
        workload("read", theirs::read, ours::read),
        workload("write", theirs::write, ours::write),
        workload("read_owned", theirs::read_owned, ours::read_owned),
        workload("write_owned", theirs::write_owned, ours::write_owned),
        workload("acquire", theirs::acquire, ours::acquire),
        workload("acquire_owned", theirs::acquire_owned, ours::acquire_owned),
        workload("notify and wait", theirs::notify, ours::notify),
        workload(
            "notify and wait, owned",
            theirs::notify_owned,
            ours::notify_owned,
        ),
        workload("send, bounded", theirs::send, ours::send),
        workload("recv, bounded", theirs::recv, ours::recv),
        workload(
            "send, unbounded",
            theirs::send_unbounded,
            ours::send_unbounded,
        ),
        workload("recv_many, per item", theirs::recv_many, ours::recv_many),
        workload("reserve and send", theirs::reserve, ours::reserve),
        workload("clone and drop a sender", theirs::clone, ours::clone),
        workload("oneshot, all of it", theirs::once, ours::once),
        workload("broadcast, send and recv", theirs::all, ours::all),
        workload("watch, send and changed", theirs::latest, ours::latest),
    ]
}

/// The smallest times per item. Every round has all workloads: a machine is slow for seconds at a
/// time, and then it is for all of them.
fn compare(state: &str) {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_kept = |name: &str| {
        let mut asked = words.iter().filter(|word| !word.starts_with('-'));
        asked.all(|word| name.contains(word.as_str()))
    };
    let mut all = all();
    all.retain(|workload| is_kept(&format!("{state}: {}", workload.name)));
    for _ in 0..ROUNDS {
        for Workload { runs, least, .. } in &mut all {
            for (run, least) in runs.iter().zip(least) {
                *least = run().min(*least);
            }
        }
    }
    let per_item = |least: Duration| least.as_nanos() as f64 / f64::from(ITEMS);
    for Workload { name, least, .. } in all {
        let [theirs, ours] = least.map(per_item);
        let name = format!("{state}: {name}");
        println!(
            "{name:<36} tokio {theirs:7.2} ns   ours {ours:7.2} ns   adds {:7.2} ns",
            ours - theirs
        );
    }
}

fn main() {
    compare("disarmed");
    let _turbowish = turbowish::init();
    compare("armed");
}
