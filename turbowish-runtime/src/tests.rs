//! The live process against the occupancy vectors: real futures, real threads, a clock set by hand.

#[path = "../../turbowish-model/tests/check/mod.rs"]
mod check;
mod live;
mod stage;
