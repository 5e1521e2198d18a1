//! A poll that is long because its thread is preempted: its own work takes under half a second.

use std::sync::Barrier;
use std::time::Duration;

use rustix::process::setpriority_process;
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

const RIVALS: usize = 2;

/// Processor time of this thread.
fn used() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(used).unwrap_or_default()
}

#[turbowish::instrument]
async fn digest() {
    let begun = used();
    while used() - begun < Duration::from_millis(400) {
        std::hint::black_box(begun);
    }
    tokio::task::yield_now().await;
}

#[turbowish::instrument]
async fn run() {
    loop {
        digest().await;
    }
}

/// From here on this thread shares one core with others that always want to run and have a higher priority.
fn share_a_core() {
    let mut core = CpuSet::new();
    core.set(sched_getcpu());
    let ready: &Barrier = Box::leak(Box::new(Barrier::new(RIVALS + 1)));
    for _ in 0..RIVALS {
        std::thread::spawn(move || {
            sched_setaffinity(None, &core).expect("the core is one of ours");
            ready.wait();
            loop {
                std::hint::spin_loop();
            }
        });
    }
    sched_setaffinity(None, &core).expect("the core is one of ours");
    ready.wait();
    // On Linux this thread alone.
    setpriority_process(None, 10).expect("a lower priority is always allowed");
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let _turbowish = turbowish_pitfalls::begin(&[]);
    share_a_core();
    let task = turbowish::TaskBuilder::new().name("digester").spawn(run());
    task.await.expect("it never ends");
}
