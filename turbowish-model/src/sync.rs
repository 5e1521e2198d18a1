//! The atomics that threads share: those of `core`, or loom's when its model checker runs the tests.

#[cfg(not(all(test, loom)))]
pub(crate) use core::{
    hint::spin_loop,
    sync::atomic::{AtomicU32, AtomicU64, fence},
};
#[cfg(all(test, loom))]
pub(crate) use loom::{
    hint::spin_loop,
    sync::atomic::{AtomicU32, AtomicU64, fence},
};
