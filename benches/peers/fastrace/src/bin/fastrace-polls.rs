//! fastrace, a span for each poll.

#![recursion_limit = "2048"]

macro_rules! instrumented {
    ($($function:tt)*) => { #[fastrace::trace(enter_on_poll = true)] $($function)* };
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
