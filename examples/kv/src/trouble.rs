//! Three troubles, as one finds them in servers: a worker that is blocked now and then, a lock that
//! is held across an await, and tasks that are left behind. The demo looks for them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::sleep;
use turbowish::TaskBuilder;
use turbowish::sync::{Mutex, Notify, named};

/// Time from one blocked worker to the next, and from the start to half of that.
const STALL_EVERY: Duration = Duration::from_secs(20);
const STALL: Duration = Duration::from_secs(2);
/// Time from one slow lock to the next, and from the start to half of that.
const RELOAD_EVERY: Duration = Duration::from_secs(10);
const RELOAD: Duration = Duration::from_secs(2);
/// Tasks that want the lock.
const READERS: u32 = 4;
/// Time from one task that is left behind to the next.
const LEAK_EVERY: Duration = Duration::from_millis(200);
/// Tasks that are left behind before all of them end, so that memory is bounded.
const LEAKED: usize = 5_000;

/// The troubles, on a runtime of their own: a blocked worker would keep the server's tasks, and
/// their locks, too. Dropped, it does not wait for the end of a long poll.
#[derive(Debug)]
pub struct Trouble {
    is_over: Arc<AtomicBool>,
    /// Dropped after the flag is set.
    _runtime: Runtime,
}

impl Trouble {
    /// Starts the runtime and the tasks that make trouble.
    ///
    /// # Errors
    /// The threads of the runtime cannot be started.
    pub fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("kv-jobs")
            .enable_time()
            .build()?;
        let entered = runtime.enter();
        let is_over = Arc::new(AtomicBool::new(false));
        let prices = Arc::new(named("prices", Mutex::new(0)));
        let task = |name| TaskBuilder::new().name(name);
        drop(task("compactor").spawn(compact(is_over.clone())));
        drop(task("reloader").spawn(reload(prices.clone())));
        for _ in 0..READERS {
            drop(turbowish::spawn(read_price(prices.clone())));
        }
        drop(task("publisher").spawn(publish()));
        drop(entered);
        Ok(Self {
            is_over,
            _runtime: runtime,
        })
    }
}

impl Drop for Trouble {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Does what takes long in a poll: its worker serves no other task meanwhile.
#[turbowish::instrument]
async fn compact(is_over: Arc<AtomicBool>) {
    sleep(STALL_EVERY / 2).await;
    loop {
        for _ in 0..STALL.as_millis() / 10 {
            if !is_over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        sleep(STALL_EVERY).await;
    }
}

/// Holds the lock while it waits for a slow answer: all readers wait for that, too.
#[turbowish::instrument]
async fn reload(prices: Arc<Mutex<u64>>) {
    sleep(RELOAD_EVERY / 2).await;
    loop {
        let mut guard = prices.lock().await;
        *guard = fetch().await;
        drop(guard);
        sleep(RELOAD_EVERY).await;
    }
}

#[turbowish::instrument]
async fn fetch() -> u64 {
    sleep(RELOAD).await;
    42
}

#[turbowish::instrument]
async fn read_price(prices: Arc<Mutex<u64>>) {
    loop {
        sleep(Duration::from_millis(150)).await;
        std::hint::black_box(*prices.lock().await);
    }
}

/// Spawns a task for each subscriber, and drops its handle.
#[turbowish::instrument]
async fn publish() {
    let news = Arc::new(named("news", Notify::new()));
    loop {
        for _ in 0..LEAKED {
            drop(turbowish::spawn(subscribe(news.clone())));
            sleep(LEAK_EVERY).await;
        }
        news.notify_waiters();
    }
}

/// Waits for news that do not come.
#[turbowish::instrument]
async fn subscribe(news: Arc<Notify>) {
    news.notified().await;
}
