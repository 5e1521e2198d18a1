//! In-process runtime of TurboWish: nothing on the path of a poll panics, blocks, or allocates.

// What only one feature uses is compiled in every build, except for what needs another crate. The
// full build says what is used by nothing.
#![cfg_attr(
    not(all(feature = "server", feature = "tokio")),
    expect(dead_code, unused_imports, reason = "used with all features only")
)]

/// The attribute expands to paths in the facade; in the tests of this crate, the facade is this
/// crate.
#[cfg(test)]
extern crate self as turbowish;
#[cfg(test)]
pub use {private as __private, turbowish_macros::instrument};

mod discard;
mod exit;
mod features;
mod hot;
mod init;
#[doc(hidden)]
pub mod intent;
mod lock;
mod log;
mod metrics;
mod monitor;
mod on_event;
mod os_thread;
#[doc(hidden)]
pub mod private;
#[cfg_attr(
    not(feature = "tokio"),
    expect(unreachable_pub, reason = "intents name none")
)]
mod resource;
mod runtimes;
#[cfg(feature = "server")]
mod server;
mod settings;
#[cfg(feature = "tokio")]
mod spawn;
#[cfg(feature = "tokio")]
pub mod sync;
#[cfg(test)]
mod tests;
#[cfg(feature = "tokio")]
pub mod time;

pub use turbowish_model::diagnose::alert::{AlertLimit, Bytes, Percent};

#[expect(deprecated, reason = "they stay for a while")]
pub use crate::hot::origin::{Root, root};
pub use crate::hot::origin::{Task, TaskBuilder, task};
#[doc(hidden)]
pub use crate::hot::probe;
pub use crate::hot::task::record_panics;
pub use crate::init::{Builder, Guard, InitError, arm, disarm, init};
#[expect(deprecated, reason = "they stay for a while")]
pub use crate::init::{pause, resume};
pub use crate::intent::Intent;
pub use crate::on_event::{RecordedEvent, RecordedKind, on_event};
#[cfg(feature = "tokio")]
pub use crate::spawn::{JoinHandle, JoinSet, block_on, spawn, spawn_local};
