//! Who polls a task: an executor, or a thread that waits for it.

use super::stage::{OwnClock, advance, alone};
use crate::hot::{switch, task};
use crate::{block_on, spawn};

#[turbowish::instrument]
async fn wait() -> bool {
    tokio::task::yield_now().await;
    let own = crate::hot::current::current_call().task;
    let all = task::all();
    let live = all.iter().find(|live| live.id() == own);
    let origin = live.and_then(crate::hot::task::TaskRow::origin);
    origin.expect("it has one").blocks
}

#[test]
fn a_thread_that_waits_is_told_from_an_executor() {
    let alone = alone();
    let _own = OwnClock::of(&alone);
    advance(1);
    switch::arm().expect("accounting was off");
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("it starts");
    assert!(block_on(&runtime, wait()));
    let spawned = runtime.block_on(async { spawn(wait()).await });
    assert!(!spawned.expect("it ends"));
    switch::disarm();
}
