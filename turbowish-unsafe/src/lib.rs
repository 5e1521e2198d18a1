//! All `unsafe` code of TurboWish, one file for each feature that needs it. Every block says why it
//! is sound.

pub mod atomic_location;
pub mod beside;
#[cfg(unix)]
pub mod fork;
#[cfg(feature = "tokio")]
pub mod guarded;
#[cfg(unix)]
pub mod lock;
#[cfg(unix)]
pub mod signal;
pub mod waker;
