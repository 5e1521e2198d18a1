//! Nothing is instrumented: what the others are compared with.

#![recursion_limit = "2048"]

macro_rules! instrumented {
    ($($function:tt)*) => { $($function)* };
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
    harness::main();
}
