//! Two tasks take two free locks in opposite orders so briefly that no snapshot sees both held.

use std::sync::Arc;
use std::time::Duration;

use turbowish::sync::{Mutex, named};

type Account = Arc<Mutex<i64>>;

#[turbowish::instrument]
async fn transfer(from: &Account, to: &Account) {
    let mut from = from.lock().await;
    let mut to = to.lock().await;
    *from -= 1;
    *to += 1;
}

#[turbowish::instrument]
async fn take_turns(accounts: [Account; 2], begin: Duration) {
    tokio::time::sleep(begin).await;
    loop {
        transfer(&accounts[0], &accounts[1]).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    let alice = Arc::new(named("alice", Mutex::new(0)));
    let bob = Arc::new(named("bob", Mutex::new(0)));
    let spawn = |name| turbowish::TaskBuilder::new().name(name);
    let there = take_turns([alice.clone(), bob.clone()], Duration::ZERO);
    let back = take_turns([bob, alice], Duration::from_millis(25));
    let there = spawn("there").spawn(there);
    let back = spawn("back").spawn(back);
    let _ = tokio::join!(there, back);
}
