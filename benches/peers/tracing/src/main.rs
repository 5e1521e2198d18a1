//! tracing, to a registry that nobody listens at; `PEER_SUBSCRIBER=none` leaves that out.

#![recursion_limit = "2048"]

macro_rules! instrumented {
    ($($function:tt)*) => { #[tracing::instrument(skip_all)] $($function)* };
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
    if std::env::var_os("PEER_SUBSCRIBER").is_none_or(|value| value != "none") {
        tracing_subscriber::util::SubscriberInitExt::init(tracing_subscriber::registry());
    }
    harness::main();
}
