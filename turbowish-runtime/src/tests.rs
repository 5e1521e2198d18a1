//! The live process against the definitions: real futures, real threads, a clock set by hand.

#[path = "../../turbowish-model/tests/check/mod.rs"]
mod check;
mod live;
mod oracle;
mod random;
mod stage;
