//! Two tasks take two locks in opposite orders, in turns, without a deadlock so far.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use turbowish::sync::{Mutex, named};

type Account = Arc<Mutex<i64>>;

#[turbowish::instrument]
async fn transfer(from: &Account, to: &Account) {
    let mut from = from.lock().await;
    let mut to = to.lock().await;
    *from -= 1;
    *to += 1;
    tokio::time::sleep(Duration::from_millis(20)).await;
}

#[turbowish::instrument]
async fn take_turns(accounts: [Account; 2], mine: Arc<Notify>, others: Arc<Notify>) {
    loop {
        mine.notified().await;
        transfer(&accounts[0], &accounts[1]).await;
        others.notify_one();
    }
}

#[tokio::main]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let alice = Arc::new(named("alice", Mutex::new(0)));
    let bob = Arc::new(named("bob", Mutex::new(0)));
    let [first, second] = [(), ()].map(|()| Arc::new(Notify::new()));
    first.notify_one();
    let spawn = |name| turbowish::TaskBuilder::new().name(name);
    let there = take_turns([alice.clone(), bob.clone()], first.clone(), second.clone());
    let back = take_turns([bob, alice], second, first);
    let there = spawn("there").spawn(there);
    let back = spawn("back").spawn(back);
    let _ = tokio::join!(there, back);
}
