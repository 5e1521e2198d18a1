//! TurboWish: `TURBOWISH=off` disarms it, `PEER_WATCH` names a console to attach.

#![recursion_limit = "2048"]

macro_rules! instrumented {
    ($($function:tt)*) => { #[turbowish::instrument] $($function)* };
}

#[path = "../../shared/deep.rs"]
mod deep;
#[path = "../../shared/harness.rs"]
mod harness;
#[path = "../../shared/bare.rs"]
mod tool;
#[path = "../../shared/workloads.rs"]
mod workloads;

fn main() {
    let _turbowish = turbowish::init();
    harness::main();
}
