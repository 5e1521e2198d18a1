//! Model of TurboWish: timed events go in, snapshots come out. It has no clock, thread, file or
//! socket.
#![no_std]

extern crate alloc;

pub mod account;
pub mod collect;
pub mod diagnose;
pub mod event;
#[cfg(all(test, loom))]
mod loom_tests;
pub mod ordered;
pub mod query;
pub mod snapshot;
pub mod sorting;
