//! What one thread writes while it polls: exact, without a lock, read by others at any time.

pub mod aggregate;
pub(crate) mod append_vec;
pub mod await_stack;
pub mod branch;
pub mod call;
pub mod counters;
pub mod histogram;
pub mod ledger;
pub mod metrics;
pub mod resource;
pub mod seqlock;
pub(crate) mod sync;
pub mod task;
pub mod time;
