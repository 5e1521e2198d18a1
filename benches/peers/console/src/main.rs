//! console-subscriber: tasks, not functions; nobody is attached.

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
    console_subscriber::Builder::default()
        .server_addr(([127, 0, 0, 1], 0))
        .init();
    harness::main();
}
