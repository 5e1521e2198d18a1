//! Two tasks take two locks in opposite orders; hundreds of tasks wait for one of the locks.

use std::sync::Arc;

use tokio::sync::Barrier;
use turbowish::sync::{Mutex, named};

/// More than are listed of those who wait for a lock.
const CROWD: usize = 600;

#[turbowish::instrument]
async fn debit(from: Arc<Mutex<i64>>, to: Arc<Mutex<i64>>, met: Arc<Barrier>) {
    let mut from = from.lock().await;
    met.wait().await;
    let mut to = to.lock().await;
    *from -= 1;
    *to += 1;
}

#[turbowish::instrument]
async fn audit(account: Arc<Mutex<i64>>) -> i64 {
    *account.lock().await
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let alice = Arc::new(named("alice", Mutex::new(0)));
    let bob = Arc::new(named("bob", Mutex::new(0)));
    let met = Arc::new(Barrier::new(3));
    let there = debit(alice.clone(), bob.clone(), met.clone());
    let back = debit(bob, alice.clone(), met.clone());
    let there = turbowish::TaskBuilder::new().name("there").spawn(there);
    let back = turbowish::TaskBuilder::new().name("back").spawn(back);
    tokio::task::yield_now().await;
    for _ in 0..CROWD {
        turbowish::spawn(audit(alice.clone()));
    }
    // Each of them waits by now.
    tokio::task::yield_now().await;
    met.wait().await;
    there.await.and(back.await).expect("they wait for ever");
}
