//! TurboWish, a profiler and monitor for async Rust: what occupies the event loop, and why is a
//! task stuck? This crate is the public API; the code that the attribute generates names no other
//! crate.
//!
//! Put [`#[instrument]`](macro@instrument) on an `async fn`, an `impl`, a `trait` or an inline
//! `mod`, and keep the guard of [`init`] in `main`. Watch the running program with `turbowish top`,
//! or read the report that it prints at exit.
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
//! Calls of annotated functions are measured on the thread that polls them:
//!
//! - *running*: time inside the polls of a call, without the annotated calls nested in them;
//! - *inclusive*: the same time, with the nested calls;
//! - *hold*: the duration of each poll;
//! - *yielded*: the time between polls, and the `.await` at which the call waited;
//! - how the call ended.
//!
//! Every poll is counted; nothing is sampled and nothing is queued. A function is identified by its
//! place in the source, a task by the annotated call that its executor polls. The executor is never
//! queried, so any executor works.
//!
//! Programs add numbers of their own with [`counter!`] and [`gauge!`], events with [`event!`], and
//! fields to filter by with `fields(…)` of the attribute and [`TaskBuilder::attribute`].
//!
//! # Features
//!
//! | feature | by default | what it is for |
//! |---|---|---|
//! | `enabled` | yes | accounting and the report at exit. Without it, [`instrument`](macro@instrument) returns items unchanged and every function here is empty |
//! | `server` | no | consoles can attach: one extra thread answers on a Unix socket. Enable it in the program, not in libraries |
//! | `tokio` | no | `turbowish::sync`, `time`, `spawn` and more: drop-in wrappers of tokio's primitives, timers and ways to spawn. Consoles show the holders and waiters of a resource, and where a task was spawned |
//!
//! # Settings
//!
//! [`Builder`] has all settings. Environment variables override it:
//!
//! | variable | values |
//! |---|---|
//! | `TURBOWISH` | `on`, `disarmed` (until [`arm`]), `off` (nothing is started) |
//! | `TURBOWISH_REPORT` | `1`, or the path of a JSON file |
//! | `TURBOWISH_LISTEN`, `TURBOWISH_TOKEN` | a loopback address such as `127.0.0.1:6680`, and its secret |
//! | `TURBOWISH_RUNTIME_DIR` | folder of the Unix socket |
//!
//! # Costs
//!
//! Disarmed, a poll costs a relaxed load and a branch. Armed, it costs two clock readings and some
//! plain stores: no lock and, once warm, no allocation. A task that waits costs one allocation.

#![cfg_attr(docsrs, feature(doc_cfg))]
// Every item exists without `enabled`, too: a badge would say otherwise.
#![cfg_attr(docsrs, doc(auto_cfg(hide(feature = "enabled"))))]

mod intend;
#[cfg(not(feature = "enabled"))]
mod off;

pub use turbowish_macros::instrument;

#[cfg(feature = "enabled")]
pub use turbowish_runtime::{
    AlertLimit, Builder, Bytes, Guard, InitError, Intent, Percent, RecordedEvent, RecordedKind,
    Task, TaskBuilder, arm, counter, disarm, event, gauge, init, on_event, record_panics, task,
};

#[cfg(feature = "enabled")]
#[expect(deprecated, reason = "they stay for a while")]
#[doc(hidden)]
pub use turbowish_runtime::{Root, pause, resume, root};

#[cfg(all(feature = "enabled", feature = "tokio"))]
#[cfg_attr(docsrs, doc(cfg(feature = "tokio")))]
pub use turbowish_runtime::{JoinHandle, JoinSet, block_on, spawn, spawn_local, sync, time};

#[cfg(not(feature = "enabled"))]
pub use off::{
    AlertLimit, Builder, Bytes, Guard, InitError, Intent, Percent, RecordedEvent, RecordedKind,
    Task, TaskBuilder, arm, disarm, init, on_event, record_panics, task,
};

#[cfg(not(feature = "enabled"))]
#[expect(deprecated, reason = "they stay for a while")]
#[doc(hidden)]
pub use off::{Root, pause, resume, root};

#[cfg(all(not(feature = "enabled"), feature = "tokio"))]
pub use off::tokio::{JoinHandle, JoinSet, block_on, spawn, spawn_local, sync, time};

#[cfg(feature = "enabled")]
#[doc(hidden)]
pub use turbowish_runtime::private as __private;

#[cfg(not(feature = "enabled"))]
#[doc(hidden)]
pub use off::metrics as __private;

/// Compiles the program of the README as it stands there.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
