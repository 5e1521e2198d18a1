//! Programs that run as they like, on executors, threads and a clock that nobody holds still: what
//! is exact is exact in every reading.
//!
//! Each call has a [`Watch`] on it that counts what becomes of it, without the ledger. Nothing is
//! compared with an amount of time: only numbers with each other.

mod checks;
mod program;

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

use turbowish_model::account::poll_ring::PollOutcome;
use turbowish_model::collect::history::Totals;

use self::checks::{check, check_window, is_later};
use self::program::{COUNTS, Count, Dice, Made, NAMES, branch, plain};
use super::stage::{OURS, OwnClock, alone, ours};
use crate::hot::{proc, switch, thread};
use crate::monitor::Monitor;

/// Threads with an executor that only polls, and such that tokio has.
const THREADS: u64 = 2;
const TASKS: u64 = 8;
const BURST: u64 = 2000;

/// Polls until it is ready.
fn block_on<F: Future + Unpin>(mut future: F) -> F::Output {
    loop {
        let polled = Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop()));
        if let Poll::Ready(value) = polled {
            return value;
        }
        std::thread::yield_now();
    }
}

/// Runs a random program to its end, on all threads, while `look` is called again and again.
fn run(seed: u64, mut look: impl FnMut(&mut Dice)) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS as usize)
        .thread_name(OURS)
        .build()
        .expect("a runtime");
    let tasks: Vec<_> = (0..TASKS)
        .map(|nth| runtime.spawn(branch(Made::new(0), Dice::new(seed, nth), 3)))
        .collect();
    let over = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let mut handles = Vec::new();
        for thread in 0..THREADS {
            let over = &over;
            let works = move || {
                for nth in 0..TASKS {
                    let dice = Dice::new(seed, (thread + 1) << 32 | nth);
                    let _ = block_on(Box::pin(branch(Made::new(0), dice, 3)));
                    // Too fast for a reader to see the thread at one instant.
                    let mut dice = Dice::new(seed, nth);
                    (0..BURST).for_each(|_| plain(&mut dice));
                }
                over.fetch_add(1, Relaxed);
            };
            handles.push(ours().spawn_scoped(scope, works).expect("a thread"));
        }
        let mut dice = Dice::new(seed, u64::MAX);
        while over.load(Relaxed) < THREADS || tasks.iter().any(|task| !task.is_finished()) {
            look(&mut dice);
            std::thread::yield_now();
        }
        // A scope waits for what its threads do, and not until they are gone with all that is
        // theirs.
        for handle in handles {
            handle.join().expect("no panic");
        }
    });
    // Ends the runtime's threads, and waits for them.
    drop(runtime);
    let panicked = tasks.into_iter().filter(|task| !task.is_finished());
    assert_eq!(panicked.count(), 0);
}

/// The same on a clock of its own, from a clean slate.
fn monitored(seed: u64, look: impl FnMut(&Monitor, &mut Dice)) -> Totals {
    switch::disarm();
    thread::take_enrolled();
    COUNTS
        .iter()
        .flatten()
        .for_each(|count| count.store(0, Relaxed));
    let monitor = Monitor::new("own clock".to_owned());
    monitor.arm();
    let mut look = look;
    run(seed, |dice| look(&monitor, dice));
    monitor.disarm();
    let (totals, _) = monitor.totals();
    check(&totals);
    assert!(
        monitor.kept()[0] <= 2,
        "this thread's, and that of ended threads"
    );
    totals
}

fn number(name: &str) -> Option<usize> {
    let function = name.strip_prefix(concat!(module_path!(), "::program::"))?;
    NAMES.iter().position(|&known| known == function)
}

/// What single polls took is what the threads were busy.
#[test]
fn the_polls_that_are_kept_are_all_of_them() {
    /// More than a thread has.
    const POLLS: usize = 1 << 16;
    let alone = alone();
    let _clock = OwnClock::of(&alone);
    thread::keep_polls(POLLS, None);
    let own = std::thread::current();
    for seed in 0..4 {
        let _ = thread::take_polls();
        let totals = monitored(seed, |_, _| ());
        let threads = thread::take_polls();
        let (mut hold, mut latest) = (0, 0);
        for thread in &threads {
            assert!(thread.is_over() || Some(&*thread.name) == own.name());
            let mut before = 0;
            let read = thread.ring.read(0, true, |_, poll| {
                assert!(poll.start() >= before, "polls of a thread do not overlap");
                (hold, before) = (hold + poll.hold, poll.end);
                assert_eq!(poll.outcome == PollOutcome::Unknown, poll.task == 0);
            });
            assert_eq!(read.lost, 0);
            latest = latest.max(before);
        }
        assert!(threads.len() > THREADS as usize);
        assert_eq!(hold, totals.busy.values().sum::<u64>(), "seed {seed}");
        assert!(latest <= totals.at);
    }
    thread::keep_polls(0, None);
}

#[test]
fn nothing_is_lost_and_nothing_counted_twice() {
    let alone = alone();
    let _clock = OwnClock::of(&alone);
    for seed in 0..10 {
        let mut before = Totals::default();
        let totals = monitored(seed, |monitor, dice| {
            let (totals, _) = monitor.totals();
            check(&totals);
            is_later(&before, &totals);
            check_window(&monitor.window(&totals, Some(dice.below(1 << 22))));
            before = totals;
            if dice.below(20) == 0 {
                monitor.tick();
            }
        });
        is_later(&before, &totals);
        let mut compared = 0;
        for (at, known) in proc::all().iter().enumerate() {
            let (Some(number), Some(stats)) = (number(&known.path), totals.aggregate.procs.get(at))
            else {
                continue;
            };
            for count in Count::ALL {
                let expected = COUNTS[number][count as usize].load(Relaxed);
                let got = stats.sum(count.sum());
                assert_eq!(got, expected, "seed {seed}: {} {count:?}", NAMES[number]);
                compared += usize::from(expected > 0);
            }
        }
        assert!(compared > 12, "{compared} numbers");
    }
}

#[test]
fn a_switch_at_any_moment_leaves_every_reading_exact() {
    let alone = alone();
    let _clock = OwnClock::of(&alone);
    for seed in 100..110 {
        let mut before = Totals::default();
        monitored(seed, |monitor, dice| {
            match dice.below(6) {
                0 => monitor.disarm(),
                1 => monitor.tick(),
                _ => monitor.arm(),
            }
            let (totals, _) = monitor.totals();
            check(&totals);
            is_later(&before, &totals);
            check_window(&monitor.window(&totals, Some(dice.below(1 << 22))));
            before = totals;
        });
    }
}
