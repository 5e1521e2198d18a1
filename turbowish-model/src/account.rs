//! Per-thread accounting: exact, lock-free counters that one thread writes while it polls and any
//! thread may read at any time.

pub mod aggregate;
pub(crate) mod append_vec;
pub mod await_stack;
pub mod branch;
pub mod call;
pub mod counters;
pub mod delays;
pub mod event_ring;
pub mod histogram;
pub mod ledger;
pub mod metrics;
pub mod paths;
pub mod poll_ring;
pub mod resource;
pub mod seqlock;
pub mod slots;
pub mod slow;
pub(crate) mod sync;
pub mod task;
pub mod time;
