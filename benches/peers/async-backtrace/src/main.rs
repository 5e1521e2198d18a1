//! async-backtrace, each task a root.

#![recursion_limit = "2048"]

macro_rules! instrumented {
    ($($function:tt)*) => { #[async_backtrace::framed] $($function)* };
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
