//! await-tree, each task a tree.

#![recursion_limit = "2048"]

macro_rules! instrumented {
    ($($function:tt)*) => { #[await_tree::instrument] $($function)* };
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
    tool::start();
    harness::main();
}
