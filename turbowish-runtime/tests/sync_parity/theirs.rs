//! The tables and examples, with tokio's types.
#![allow(
    clippy::duplicate_mod,
    reason = "the same source for both, that is the test"
)]

pub(crate) use tokio::{sync, time};

#[path = "methods/barrier.rs"]
pub(crate) mod barrier;
#[path = "methods/broadcast.rs"]
pub(crate) mod broadcast;
#[path = "methods/mpsc.rs"]
pub(crate) mod mpsc;
#[path = "methods/mutex.rs"]
pub(crate) mod mutex;
#[path = "methods/notify.rs"]
pub(crate) mod notify;
#[path = "methods/once_cell.rs"]
pub(crate) mod once_cell;
#[path = "methods/oneshot.rs"]
pub(crate) mod oneshot;
#[path = "methods/rwlock.rs"]
pub(crate) mod rwlock;
#[path = "methods/semaphore.rs"]
pub(crate) mod semaphore;
#[path = "methods/set_once.rs"]
pub(crate) mod set_once;
#[path = "methods/time.rs"]
pub(crate) mod time_table;
#[path = "methods/watch.rs"]
pub(crate) mod watch;

#[path = "steps.rs"]
pub(crate) mod steps;

#[path = "examples/barrier.rs"]
mod barrier_examples;
#[path = "examples/broadcast.rs"]
mod broadcast_examples;
#[path = "examples/mpsc.rs"]
mod mpsc_examples;
#[path = "examples/mutex.rs"]
mod mutex_examples;
#[path = "examples/notify.rs"]
mod notify_examples;
#[path = "examples/once_cell.rs"]
mod once_cell_examples;
#[path = "examples/oneshot.rs"]
mod oneshot_examples;
#[path = "examples/rwlock.rs"]
mod rwlock_examples;
#[path = "examples/semaphore.rs"]
mod semaphore_examples;
#[path = "examples/set_once.rs"]
mod set_once_examples;
#[path = "examples/time.rs"]
mod time_examples;
#[path = "examples/watch.rs"]
mod watch_examples;

#[path = "scripts/mpsc.rs"]
pub(crate) mod mpsc_scripts;
#[path = "scripts/others.rs"]
pub(crate) mod scripts;

/// There is nothing to be told.
const fn start() {}
