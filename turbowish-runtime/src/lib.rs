//! TurboWish inside the process: nothing here panics, blocks, or allocates on the path of a poll.

/// What the attribute prints names the facade; in the tests of this crate that is the crate itself.
#[cfg(test)]
extern crate self as turbowish;
#[cfg(test)]
pub use {private as __private, turbowish_macros::instrument};

mod back;
mod call;
mod clock;
mod exit;
mod gather;
#[cfg(feature = "server")]
mod heart;
mod init;
mod monitor;
#[doc(hidden)]
pub mod private;
#[doc(hidden)]
pub mod probe;
mod proc;
#[cfg(feature = "server")]
mod server;
mod settings;
#[cfg(unix)]
mod signals;
mod switch;
mod task;
#[cfg(test)]
mod tests;
mod thread;

pub use crate::init::{Builder, Guard, init, pause, resume};
