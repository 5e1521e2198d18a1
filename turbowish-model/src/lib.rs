//! The model holds no clock, thread, file or socket: events go in with their time, snapshots come out.
#![no_std]

extern crate alloc;

pub mod account;
pub mod collect;
pub mod diagnose;
#[cfg(all(test, loom))]
mod loom_tests;
pub mod query;
pub mod replay;
pub mod snapshot;
pub mod validate;
