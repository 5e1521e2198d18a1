//! The model holds no clock, thread, file or socket: events go in with their time, snapshots come out.
#![no_std]

extern crate alloc;

pub mod alert;
pub mod assemble;
pub mod branch;
pub mod call;
pub mod column;
pub mod fork;
pub mod grid;
mod grow;
pub mod histogram;
pub mod history;
pub mod json;
pub mod ledger;
#[cfg(all(test, loom))]
mod loom_tests;
pub mod meter;
pub mod natural;
pub mod printable;
pub mod quantile;
pub mod query;
pub mod read;
pub mod replay;
pub mod report;
pub mod resource;
pub mod row;
pub mod scene;
pub mod sequence;
pub mod short_name;
pub mod snapshot;
mod sync;
pub mod tally;
pub mod task;
pub mod time;
pub mod trail;
pub mod units;
pub mod validate;
pub mod waits;
