//! All `unsafe` code of TurboWish, one file for each feature that needs it. Every block says why it
//! is sound.

pub mod atomic_location;
pub mod counter;
#[cfg(unix)]
pub mod fork;
pub mod local;
#[cfg(unix)]
pub mod lock;
#[cfg(unix)]
pub mod mapping;
pub mod own;
#[cfg(feature = "tokio")]
pub mod self_ref;
#[cfg(unix)]
pub mod signal;
mod sync;
pub mod waker;
pub mod zeroed;
