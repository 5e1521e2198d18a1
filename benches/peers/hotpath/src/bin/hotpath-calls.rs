//! hotpath, without polls.

#![recursion_limit = "2048"]

macro_rules! instrumented {
    ($($function:tt)*) => { #[hotpath::measure] $($function)* };
}

#[path = "../shallow.rs"]
mod deep;
#[path = "../../../shared/harness.rs"]
mod harness;
#[path = "../../../shared/bare.rs"]
mod tool;
#[path = "../../../shared/workloads.rs"]
mod workloads;

fn main() {
    let _hotpath = hotpath::HotpathGuardBuilder::new("main").build();
    harness::main();
}
