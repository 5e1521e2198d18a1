//! Atomics shared between threads: those of std, or those of loom when its model checker runs the
//! tests.

#[cfg(all(test, loom))]
pub(crate) use loom::{
    hint::spin_loop,
    sync::atomic::{AtomicPtr, AtomicU64, Ordering},
    thread::yield_now,
};
#[cfg(not(all(test, loom)))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic::{AtomicPtr, AtomicU64, Ordering},
    thread::yield_now,
};
