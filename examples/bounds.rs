//! Memory bounds of the accounting: many calls, many procs on many threads, many short tasks.
//!
//! `cargo run --release --features server,tokio --example bounds` runs each case in a separate
//! process, prints the memory that it took, and fails if that exceeds the bound.

use std::hint::black_box;
use std::pin::{Pin, pin};
use std::process::{Command, ExitCode};
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Waker};

const CALLS: u32 = 38_000_000;
const THREADS: usize = 16;
const TASKS: u32 = 1_000_000;
const SPAWNS: u32 = 200_000;
/// Tasks that live at once.
const LIVE: u32 = 10_000;

const MIB: u64 = 1 << 20;

/// A name, what it may take, and the run: bytes of resident memory.
type Bound = (&'static str, u64, fn() -> u64);

const BOUNDS: &[Bound] = &[
    ("38 million calls of one proc", 64 * MIB, many_calls),
    ("400 procs on 16 threads", 64 * MIB, many_procs),
    (
        "a million short tasks, over the start",
        20 * MIB,
        many_tasks,
    ),
    (
        "200,000 short spawns, over the start",
        20 * MIB,
        many_spawns,
    ),
];

#[turbowish::instrument]
async fn leaf(x: u32) -> u32 {
    black_box(x) + 1
}

async fn calls(n: u32) {
    for x in 0..n {
        black_box(leaf(x).await);
    }
}

/// Pending once.
struct Once(bool);

impl Future for Once {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

fn drive(future: impl Future<Output = ()>) {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    while future.as_mut().poll(&mut context).is_pending() {}
}

/// A proc for each of the words.
macro_rules! procs {
    ($($module:ident)*) => {
        $(mod $module {
            procs! { @twenty p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12 p13 p14 p15 p16 p17 p18 p19 }
        })*
        async fn every_proc() {
            $($module::each().await;)*
        }
    };
    (@twenty $($name:ident)*) => {
        $(#[turbowish::instrument]
        async fn $name() {
            super::Once(false).await;
        })*
        pub(super) async fn each() {
            $($name().await;)*
        }
    };
}

procs! { m0 m1 m2 m3 m4 m5 m6 m7 m8 m9 m10 m11 m12 m13 m14 m15 m16 m17 m18 m19 }

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.map_or(u64::MAX, |kib| kib * 1024)
}

fn many_calls() -> u64 {
    drive(calls(CALLS));
    resident()
}

fn many_procs() -> u64 {
    let (done, measured) = (
        Arc::new(Barrier::new(THREADS + 1)),
        Arc::new(Barrier::new(THREADS + 1)),
    );
    for _ in 0..THREADS {
        let (done, measured) = (done.clone(), measured.clone());
        std::thread::spawn(move || {
            for _ in 0..100 {
                drive(every_proc());
            }
            done.wait();
            measured.wait();
        });
    }
    done.wait();
    let bytes = resident();
    measured.wait();
    bytes
}

#[turbowish::instrument]
async fn short(x: u32) {
    leaf(x).await;
    tokio::task::yield_now().await;
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn many_tasks() -> u64 {
    let start = resident();
    for _ in 0..TASKS / LIVE {
        let mut tasks = tokio::task::JoinSet::new();
        for x in 0..LIVE {
            tasks.spawn(short(x));
        }
        tasks.join_all().await;
    }
    resident().saturating_sub(start)
}

/// Tasks spawned with their origin, with a resource each.
#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn many_spawns() -> u64 {
    let start = resident();
    for round in 0..SPAWNS / LIVE {
        let mut tasks = turbowish::JoinSet::new();
        for x in 0..LIVE {
            let task = turbowish::TaskBuilder::new().name(format!("{round}-{x}"));
            task.spawn_in(
                async move {
                    let (send, receive) = turbowish::sync::oneshot::channel();
                    tokio::join!(short(x), async { receive.await.ok() }, async {
                        tokio::task::yield_now().await;
                        send.send(x).ok()
                    });
                },
                &mut tasks,
            );
        }
        tasks.join_all().await;
    }
    resident().saturating_sub(start)
}

/// In a process of its own; whether it held.
fn hold((name, limit, _): &Bound) -> bool {
    let run = |program| {
        let mut case = Command::new(program);
        // The recorder has memory of its own, within a bound that the program's user sets.
        case.arg(name).env("TURBOWISH_RECORD", "off").output()
    };
    let output = std::env::current_exe().and_then(run);
    let bytes = output.ok().and_then(|output| {
        String::from_utf8(output.stdout)
            .ok()?
            .trim()
            .parse::<u64>()
            .ok()
    });
    let Some(bytes) = bytes else {
        println!("{name:<40} did not end well");
        return false;
    };
    let verdict = if bytes <= *limit { "held" } else { "BROKEN" };
    println!(
        "{name:<40} {:>6.1} MiB of {:>3}  {verdict}",
        bytes as f64 / MIB as f64,
        limit / MIB
    );
    bytes <= *limit
}

fn main() -> ExitCode {
    let Some(name) = std::env::args().nth(1) else {
        let broken = BOUNDS.iter().filter(|bound| !hold(bound)).count();
        return ExitCode::from(u8::from(broken > 0));
    };
    let Some((_, _, run)) = BOUNDS.iter().find(|bound| bound.0 == name) else {
        eprintln!("bounds: no bound {name}");
        return ExitCode::from(2);
    };
    let _turbowish = turbowish::init();
    println!("{}", run());
    ExitCode::SUCCESS
}
