//! tokio-metrics, a `TaskMonitor` for each function.

#![recursion_limit = "2048"]

macro_rules! instrumented {
    ($visibility:vis async fn $name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)? $body:block) => {
        $visibility async fn $name($($argument: $type),*) $(-> $output)? {
            static MONITOR: std::sync::LazyLock<tokio_metrics::TaskMonitor> =
                std::sync::LazyLock::new(tokio_metrics::TaskMonitor::new);
            MONITOR.instrument(async move $body).await
        }
    };
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
