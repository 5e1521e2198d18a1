//! dial9: tasks, not functions; recorded to a file of at most 64 MiB.

#![recursion_limit = "2048"]

macro_rules! instrumented {
    ($($function:tt)*) => { $($function)* };
}

#[path = "../../shared/deep.rs"]
mod deep;
#[path = "../../shared/harness.rs"]
mod harness;
#[path = "tool.rs"]
mod tool;
#[path = "../../shared/workloads.rs"]
mod workloads;

fn main() {
    harness::main();
}
