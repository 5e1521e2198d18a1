//! The poll path: no lock, no allocation once warm, no panic. It names none of its readers.

pub(crate) mod after_end;
pub(crate) mod back;
pub(crate) mod call;
pub(crate) mod child;
pub(crate) mod clock;
pub(crate) mod current;
pub(crate) mod dropped;
pub(crate) mod events;
pub(crate) mod forced_yield;
pub(crate) mod never_polled;
pub(crate) mod origin;
#[cfg(feature = "server")]
pub(crate) mod pause;
#[cfg(not(feature = "server"))]
#[path = "hot/pause/absent.rs"]
pub(crate) mod pause;
#[doc(hidden)]
pub mod probe;
pub(crate) mod proc;
pub(crate) mod switch;
pub(crate) mod task;
pub(crate) mod thread;
pub(crate) mod waker_state;
