//! Two tasks take two locks in opposite orders, and deadlock.

use std::sync::Arc;

use tokio::sync::Barrier;
use turbowish::sync::{Mutex, named};

#[turbowish::instrument]
async fn debit(from: Arc<Mutex<i64>>, to: Arc<Mutex<i64>>, met: Arc<Barrier>) {
    let mut from = from.lock().await;
    met.wait().await;
    let mut to = to.lock().await;
    *from -= 1;
    *to += 1;
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let alice = Arc::new(named("alice", Mutex::new(0)));
    let bob = Arc::new(named("bob", Mutex::new(0)));
    let met = Arc::new(Barrier::new(2));
    let there = debit(alice.clone(), bob.clone(), met.clone());
    let back = debit(bob, alice, met);
    let there = turbowish::TaskBuilder::new().name("there").spawn(there);
    let back = turbowish::TaskBuilder::new().name("back").spawn(back);
    there.await.and(back.await).expect("they wait for ever");
}
