//! The model holds no clock, thread, file or socket: events go in with their time, snapshots come out.
#![no_std]

extern crate alloc;

pub mod column;
pub mod quantile;
pub mod query;
pub mod snapshot;
pub mod units;
