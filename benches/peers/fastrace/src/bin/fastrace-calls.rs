//! fastrace, a span for each call.

#![recursion_limit = "2048"]

macro_rules! instrumented {
    ($($function:tt)*) => { #[fastrace::trace] $($function)* };
}

#[path = "../../../shared/deep.rs"]
mod deep;
#[path = "../../../shared/harness.rs"]
mod harness;
#[path = "../tool.rs"]
mod tool;
#[path = "../../../shared/workloads.rs"]
mod workloads;

fn main() {
    tool::start();
    harness::main();
}
