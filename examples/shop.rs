//! A shop with known trouble, as one finds it: a pool of four connections with 1 % slow queries, a
//! task that is left behind five times a second, and a worker that is blocked for 1.5 s under a
//! lock every 20 s.
//!
//! `cargo run --release --example shop --features server,tokio`, then `turbowish top` in another
//! terminal. It runs until Ctrl-C, or for `SECONDS`: `... --example shop -- [SECONDS]`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, sleep};
use turbowish::sync::{Mutex, Notify, Semaphore};

/// Requests a second.
const REQUESTS: u64 = 200;
/// Connections to the database.
const CONNECTIONS: usize = 4;
/// One query in so many is slow.
const SLOW: u64 = 100;

/// What all requests share.
struct Shop {
    database: Semaphore,
    catalog: Mutex<Vec<u32>>,
    /// Price changes, which never come.
    prices: Notify,
    orders: AtomicU64,
}

impl Shop {
    fn new() -> Self {
        Self {
            database: Semaphore::new(CONNECTIONS),
            catalog: Mutex::new((0..1_000).collect()),
            prices: Notify::new(),
            orders: AtomicU64::new(0),
        }
    }
}

#[turbowish::instrument]
mod requests {
    use super::{Arc, Duration, Ordering, SLOW, Shop, sleep};

    /// One request: a look at the catalog, a query, and now and then an order.
    pub(super) async fn handle(shop: Arc<Shop>, number: u64) -> u32 {
        let price = price(&shop, number).await;
        let stock = query(&shop, number).await;
        if number.is_multiple_of(40) {
            tokio::spawn(watch_price(shop.clone(), price));
        }
        render(price, stock).await
    }

    async fn price(shop: &Shop, number: u64) -> u32 {
        let catalog = shop.catalog.lock().await;
        catalog[number as usize % catalog.len()]
    }

    async fn query(shop: &Shop, number: u64) -> u64 {
        let Ok(_connection) = shop.database.acquire().await else {
            return 0;
        };
        let slow = number.is_multiple_of(SLOW);
        // The database's answer.
        sleep(Duration::from_millis(if slow { 800 } else { 5 })).await;
        shop.orders.fetch_add(1, Ordering::Relaxed)
    }

    async fn render(price: u32, stock: u64) -> u32 {
        // About 0.2 ms of work.
        let mut page = price;
        for line in 0..100_000_u64 {
            page = std::hint::black_box(page.wrapping_mul(31).wrapping_add((line ^ stock) as u32));
        }
        page
    }

    /// Nobody cancels this when its request is over.
    async fn watch_price(shop: Arc<Shop>, price: u32) -> u32 {
        shop.prices.notified().await;
        price
    }
}

#[turbowish::instrument]
mod upkeep {
    use super::{Arc, Duration, MissedTickBehavior, Shop, interval};

    /// Sorts the catalog anew every 20 s.
    pub(super) async fn reindex(shop: Arc<Shop>) {
        let mut every = interval(Duration::from_secs(20));
        every.set_missed_tick_behavior(MissedTickBehavior::Delay);
        every.tick().await;
        loop {
            every.tick().await;
            rebuild(&shop).await;
        }
    }

    async fn rebuild(shop: &Shop) {
        let mut catalog = shop.catalog.lock().await;
        // What one must not do: the worker serves no other task meanwhile, and all of them want the
        // lock.
        std::thread::sleep(Duration::from_millis(1_500));
        catalog.sort_unstable();
    }
}

/// Lets requests in at their rate, whether or not earlier ones are done.
async fn open(shop: Arc<Shop>) {
    let mut every = interval(Duration::from_micros(1_000_000 / REQUESTS));
    for number in 1.. {
        every.tick().await;
        tokio::spawn(requests::handle(shop.clone(), number));
    }
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let seconds = std::env::args().nth(1).map(|word| word.parse::<u64>());
    let seconds = match seconds {
        None => u64::MAX,
        Some(Ok(seconds)) => seconds,
        Some(Err(_)) => {
            eprintln!("shop: the number of seconds is not a number\nUsage: shop [SECONDS]");
            std::process::exit(2);
        }
    };
    let _turbowish = turbowish::init();
    let shop = Arc::new(Shop::new());
    tokio::spawn(upkeep::reindex(shop.clone()));
    tokio::spawn(open(shop.clone()));
    let end = async {
        if seconds == u64::MAX {
            std::future::pending::<()>().await;
        }
        sleep(Duration::from_secs(seconds)).await;
    };
    tokio::select! {
        () = end => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    eprintln!("shop: {} queries", shop.orders.load(Ordering::Relaxed));
}
