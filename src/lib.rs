//! What occupies the event loop, and why is a task stuck? The one path that users and the attribute name.
//!
//! Put [`#[instrument]`](macro@instrument) on an `async fn`, an `impl`, a `trait` or an inline `mod`, keep the guard of
//! [`init`] in `main`, and look at the running program with `turbowish top`, or at the report that it prints at its end.
//!
//! ```
//! #[turbowish::instrument]
//! async fn answer() -> u32 {
//!     tokio::task::yield_now().await;
//!     42
//! }
//!
//! #[tokio::main]
//! async fn main() {
//!     let _turbowish = turbowish::init();
//!     assert_eq!(answer().await, 42);
//! }
//! ```
//!
//! Every call of an annotated function is accounted on the thread that polls it: the time inside its polls without that
//! of annotated calls below it (*running*), with it (*inclusive*), the length of each poll (*hold*), the time between polls
//! (*yielded*), how the call ended, and how long it stood at which `.await`. Nothing is sampled and nothing is queued.
//! Functions are known by where they are written, tasks by the annotated call that their executor polls; the executor
//! itself is never asked, so any will do.
//!
//! What only the program knows it says itself, by [`counter!`] and [`gauge!`], and by `attributes(…)` of functions and tasks.
//!
//! # Features
//!
//! | feature | by default | what it is for |
//! |---|---|---|
//! | `enabled` | yes | accounting and the report at exit: what an annotated library needs. Off, [`instrument`](macro@instrument) returns items unchanged and every function here is empty |
//! | `server` | no | consoles can attach: a thread of its own that answers on a Unix socket. What the binary turns on |
//! | `tokio` | no | `turbowish::sync` and `turbowish::spawn`: tokio's primitives and tasks, which say who waits for what, and who holds it |
//!
//! # Settings
//!
//! [`Builder`] has them all; the environment wins over it:
//!
//! | variable | values |
//! |---|---|
//! | `TURBOWISH` | `on`, `paused` (until [`resume`]), `off` (nothing is started) |
//! | `TURBOWISH_REPORT` | `1`, or the path of a JSON file |
//! | `TURBOWISH_LISTEN`, `TURBOWISH_TOKEN` | a loopback address such as `127.0.0.1:6680`, and its secret |
//! | `TURBOWISH_RUNTIME_DIR` | folder of the Unix socket |
//!
//! # Costs
//!
//! Disarmed, a poll costs a relaxed load and a branch; armed, two readings of the clock and some plain stores, no lock,
//! and once warm no allocation. A task costs one allocation.

mod intend;
#[cfg(not(feature = "enabled"))]
mod off;

pub use turbowish_macros::instrument;

#[cfg(feature = "enabled")]
pub use turbowish_runtime::{
    Builder, Guard, Intent, Root, TaskBuilder, counter, gauge, init, pause, resume, root,
};

#[cfg(all(feature = "enabled", feature = "tokio"))]
pub use turbowish_runtime::{JoinHandle, JoinSet, block_on, spawn, spawn_local, sync, time};

#[cfg(not(feature = "enabled"))]
pub use off::{Builder, Guard, Intent, Root, TaskBuilder, init, pause, resume, root};

#[cfg(all(not(feature = "enabled"), feature = "tokio"))]
pub use off::tokio::{JoinHandle, JoinSet, block_on, spawn, spawn_local, sync, time};

#[cfg(feature = "enabled")]
#[doc(hidden)]
pub use turbowish_runtime::private as __private;

#[cfg(not(feature = "enabled"))]
#[doc(hidden)]
pub use off::meters as __private;

/// The program of the README compiles as it stands there.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
