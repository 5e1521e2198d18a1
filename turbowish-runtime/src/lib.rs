//! TurboWish inside the process: nothing here panics, blocks, or allocates on the path of a poll.

/// What the attribute prints names the facade; in the tests of this crate that is the crate itself.
#[cfg(test)]
extern crate self as turbowish;
#[cfg(test)]
pub use {private as __private, turbowish_macros::instrument};

mod back;
mod call;
mod child;
mod clock;
#[cfg(feature = "tokio")]
mod effect;
mod exit;
mod gather;
#[cfg(feature = "server")]
mod heart;
mod here;
mod init;
#[doc(hidden)]
pub mod intent;
mod lost;
mod meter;
mod monitor;
mod node;
mod os_thread;
mod own;
#[cfg(feature = "server")]
mod pause;
#[cfg(not(feature = "server"))]
#[path = "pause/absent.rs"]
mod pause;
#[doc(hidden)]
pub mod private;
#[doc(hidden)]
pub mod probe;
mod proc;
#[cfg(feature = "server")]
mod pulse;
#[cfg(feature = "server")]
mod race;
#[cfg(feature = "tokio")]
mod resource;
mod root;
#[cfg(feature = "server")]
mod server;
mod settings;
#[cfg(unix)]
mod signals;
#[cfg(feature = "tokio")]
mod spawn;
mod stderr;
mod switch;
#[cfg(feature = "tokio")]
pub mod sync;
mod task;
#[cfg(test)]
mod tests;
mod thread;
#[cfg(feature = "tokio")]
pub mod time;

pub use crate::init::{Builder, Guard, init, pause, resume};
pub use crate::intent::Intent;
pub use crate::root::{Root, TaskBuilder, root};
#[cfg(feature = "tokio")]
pub use crate::spawn::{JoinHandle, JoinSet, block_on, spawn, spawn_local};
