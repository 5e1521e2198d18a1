//! The live process against the definitions: real futures, real threads, a clock set by hand.

#[path = "../../turbowish-model/tests/accountant/mod.rs"]
mod accountant;
#[path = "../../turbowish-model/tests/check/mod.rs"]
mod check;
mod epochs;
mod free;
mod live;
mod newborn;
mod oracle;
mod own_clock;
mod random;
mod reuse;
mod stage;
#[path = "../../turbowish-model/tests/streams/mod.rs"]
mod streams;
