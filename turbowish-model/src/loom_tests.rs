//! Loom tests: every order of the threads' steps is tried, and every value that a relaxed load may
//! see.
//!
//! The first thread of a model writes, another one reads. Of two accesses loom tries the other
//! order only for what the later one meets first, and it begins with the first thread. Run with
//! `RUSTFLAGS="--cfg loom"`; see ARCHITECTURE.md. Loom does not see the boxes of `once_cell` by
//! which storage grows.

use loom::sync::Arc;
use loom::thread;

use crate::account::aggregate::{Aggregate, LongestWait};
use crate::account::await_stack::AwaitFrame;
use crate::account::call::{Call, PollEnd, ProcKey};
use crate::account::counters::{PathCounters, Sum, Word};
use crate::account::event_ring::WordRing;
use crate::account::histogram::{Buckets, Histogram};
use crate::account::ledger::{Ledger, Start};
use crate::account::paths::Paths;
use crate::account::poll_ring::{PollOutcome, PollRing};
use crate::account::seqlock::SeqLock;
use crate::account::sync::AtomicU64;
use crate::account::task::{TaskCell, TaskMeta};
use crate::collect::read::ReadRoom;

use core::sync::atomic::Ordering::Relaxed;

#[test]
fn loom_a_reader_sees_whole_events_only() {
    #[derive(Default)]
    struct Pair {
        sequence: SeqLock,
        words: [AtomicU64; 2],
    }
    loom::model(|| {
        let pair = Arc::new(Pair::default());
        let reader = {
            let pair = pair.clone();
            thread::spawn(move || {
                let read = || [0, 1].map(|at: usize| pair.words[at].load(Relaxed));
                let [first, second] = pair.sequence.read(&mut || (), read);
                assert_eq!(first, second);
            })
        };
        for nth in 1..=2 {
            let writing = pair.sequence.write();
            pair.words[0].store(nth, Relaxed);
            pair.words[1].store(nth, Relaxed);
            drop(writing);
        }
        reader.join().expect("the reader");
    });
}

#[test]
fn loom_a_task_is_read_as_it_was_between_two_events() {
    interrupted(2, || {
        let cell = Arc::new(TaskCell::new(TaskMeta::default()));
        let table = alloc::sync::Arc::<Paths>::default();
        let reader = {
            let (cell, table) = (cell.clone(), table.clone());
            thread::spawn(move || {
                let reading = cell.read(&table, &mut || ());
                let steps: alloc::vec::Vec<_> =
                    reading.stack.iter().map(|step| step.proc).collect();
                let seen = (
                    reading.thread,
                    reading.since,
                    reading.polls,
                    reading.running,
                );
                match seen {
                    (None, 0, 0, 0) | (Some(6), 10, 1, 0) => assert!(steps.is_empty()),
                    (None, 15, 1, 5) => assert_eq!(steps, [3]),
                    torn => panic!("{torn:?}"),
                }
            })
        };
        cell.begin(1, 6, 10);
        cell.end(15, 5, 5).publish(&table, |stack| {
            stack.push(AwaitFrame {
                level: 0,
                proc: 3,
                site: 1,
                direct: true,
                since: 15,
            });
        });
        reader.join().expect("the reader");
    });
}

#[test]
fn loom_a_reader_takes_no_task_for_the_next_one_in_its_cell() {
    let meta = |id| TaskMeta {
        id,
        ..TaskMeta::default()
    };
    interrupted(2, move || {
        // A word beside the cell, as the state of its waker.
        let both = Arc::new((TaskCell::new(meta(1)), AtomicU64::new(5)));
        both.0.begin(1, 6, 10);
        let reader = {
            let both = both.clone();
            thread::spawn(move || {
                let (cell, beside) = &*both;
                let seen = beside.load(Relaxed);
                assert!(seen == 5 || !cell.is_still(1));
                let (meta, reading) = cell.read_of(&Paths::new(0), &mut || ());
                let expected = if meta.id == 1 { (1, 10) } else { (0, 0) };
                assert_eq!((reading.polls, reading.since), expected);
            })
        };
        both.0.renew(&meta(2));
        both.1.store(0, Relaxed);
        reader.join().expect("the reader");
    });
}

#[test]
fn loom_no_value_of_a_histogram_is_lost_or_counted_twice() {
    loom::model(|| {
        let histogram = Arc::new(Histogram::default());
        // Allocates the octave first: loom does not see the allocation.
        histogram.record(3);
        let reader = {
            let histogram = histogram.clone();
            thread::spawn(move || {
                let mut before = Buckets::default();
                histogram.collect(&mut before);
                let mut now = Buckets::default();
                histogram.collect(&mut now);
                assert!(1 <= before.total() && before.total() <= now.total() && now.total() <= 3);
                now
            })
        };
        histogram.record(3);
        histogram.record(3);
        let now = reader.join().expect("the reader");
        let mut all = Buckets::default();
        histogram.collect(&mut all);
        assert_eq!(all.total(), 3);
        assert_eq!(all.since(&now).total() + now.total(), 3);
    });
}

#[test]
fn loom_a_row_is_read_as_it_was_between_two_events() {
    #[derive(Default)]
    struct Own {
        sequence: SeqLock,
        row: PathCounters,
    }
    loom::model(|| {
        let own = Arc::new(Own::default());
        let reader = {
            let own = own.clone();
            thread::spawn(move || {
                let words = own.sequence.read(&mut || (), || own.row.read());
                assert_eq!(words.get(Word::Hold), words.get(Word::Polls) * 5);
            })
        };
        let writing = own.sequence.write();
        own.row.add(Word::Polls, 1);
        own.row.add(Word::Hold, 5);
        drop(writing);
        reader.join().expect("the reader");
    });
}

#[test]
fn loom_a_row_that_is_kept_is_read_as_it_was() {
    loom::model(|| {
        let row = Arc::new(PathCounters::default());
        row.add(Word::Polls, 1);
        row.add(Word::Hold, 5);
        // Its storage is made first: loom does not see the allocation.
        row.keep_for(1);
        let reader = {
            let row = row.clone();
            thread::spawn(move || {
                let words = row.read_at(2);
                assert_eq!(
                    [Word::Polls, Word::Hold].map(|word| words.get(word)),
                    [1, 5]
                );
            })
        };
        row.keep_for(2);
        row.add(Word::Polls, 1);
        row.add(Word::Hold, 5);
        reader.join().expect("the reader");
    });
}

/// Three waits, while a reader ends a tick: the longest one since the start is exact, and a bar is
/// no higher than the waits.
#[test]
fn loom_a_bar_that_is_lowered_changes_no_maximum() {
    loom::model(|| {
        let row = Arc::new(PathCounters::default());
        let reader = {
            let row = row.clone();
            thread::spawn(move || row.lower_bars())
        };
        for (waited, end) in [(3, 10), (5, 20), (4, 30)] {
            let task = 1;
            // As in `charge_wait`, without the histogram.
            if waited > row.get(Word::WaitBar) {
                row.keep_longest_wait(false, &LongestWait { waited, end, task });
            }
        }
        reader.join().expect("the reader");
        let [recent, ever] = row.read().longest_waits(false);
        assert_eq!((ever.waited, ever.end), (5, 20));
        // Each wait that raises the bar is told with its own end.
        assert!(
            [(0, 30), (0, 20), (0, 10), (4, 30), (5, 20)].contains(&(recent.waited, recent.end))
        );
    });
}

#[test]
fn loom_what_a_thread_wrote_is_there_when_it_is_gone() {
    loom::model(|| {
        let mut own = Arc::new(Histogram::default());
        let writer = {
            let own = own.clone();
            thread::spawn(move || own.record(3))
        };
        // As the runtime's collector does: the holder of the last reference sees all writes.
        while Arc::get_mut(&mut own).is_none() {
            thread::yield_now();
        }
        let mut all = Buckets::default();
        own.collect(&mut all);
        assert_eq!(all.total(), 1);
        writer.join().expect("the writer");
    });
}

#[test]
fn loom_a_poll_that_is_overwritten_is_not_read() {
    const POLLS: u64 = 2;
    loom::model(|| {
        let ring = Arc::new(PollRing::of_few(POLLS as usize));
        let sequence = SeqLock::default();
        let add = |number: u64| {
            let writing = sequence.write();
            ring.push(number as u32, number, number, number);
            drop(writing);
            ring.complete(number as u32, PollOutcome::Ready, None);
        };
        (1..=POLLS).for_each(add);
        let reader = {
            let ring = ring.clone();
            thread::spawn(move || {
                let mut seen = 0;
                let read = ring.read(0, false, |_, poll| {
                    let path = u64::from(poll.path);
                    assert_eq!([poll.hold, poll.task, path], [poll.end; 3]);
                    let is_complete = poll.outcome == PollOutcome::Ready;
                    assert_eq!(
                        u64::from(poll.chain),
                        if is_complete { poll.end } else { 0 }
                    );
                    seen += 1;
                });
                assert_eq!(seen + read.lost, read.next);
            })
        };
        (POLLS + 1..=POLLS + 2).for_each(add);
        reader.join().expect("the reader");
    });
}

#[test]
fn loom_an_event_that_is_overwritten_is_not_read() {
    const EVENTS: u64 = 2;
    loom::model(|| {
        let place = || [AtomicU64::new(0), AtomicU64::new(0)];
        let ring = Arc::new(WordRing::new((0..EVENTS).map(|_| place()).collect()));
        let push = |number: u64| ring.push([number, number]);
        (1..=EVENTS).for_each(push);
        let reader = {
            let ring = ring.clone();
            thread::spawn(move || {
                let (mut seen, mut count) = (0, 0);
                let (next, lost) = ring.read(0, |[one, other]| {
                    assert_eq!(one, other);
                    assert!(one > seen);
                    (seen, count) = (one, count + 1);
                });
                assert_eq!(count + lost, next);
            })
        };
        (EVENTS + 1..=EVENTS + 2).for_each(push);
        reader.join().expect("the reader");
    });
}

/// Maximum number of steps of one run: a ledger is a few hundred words.
const BRANCHES: usize = 1 << 16;

/// Tries every run with at most `times` preemptions.
fn interrupted(times: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.max_branches = BRANCHES;
    builder.preemption_bound = Some(times);
    builder.check(model);
}

const KEY: ProcKey = ProcKey {
    id: 0,
    future_bytes: 0,
};

/// Checks the invariants of any reading of a ledger.
fn check(ledger: &Ledger) {
    let mut stats = Aggregate::default();
    let mut reading = ledger.read((&mut stats, &mut ReadRoom::default()), &mut || ());
    assert!(reading.latest <= 40);
    reading.charge(40, &mut stats);
    stats.close_open_at(40);
    let sum = |sum: Sum| stats.procs.iter().map(move |proc| proc.sum(sum));
    assert_eq!(sum(Sum::Running).sum::<u64>(), reading.busy);
    for proc in &stats.procs {
        let waited: u64 = proc.sites.iter().map(|site| site.waited).sum();
        let parts = proc.sum(Sum::Unstarted) + proc.sum(Sum::Hold) + waited;
        assert_eq!(proc.sum(Sum::Wall), parts, "{proc:?}");
        assert_eq!(proc.sum(Sum::Calls), proc.ended() + proc.live());
        assert!(proc.sum(Sum::Running) <= proc.sum(Sum::Hold), "{proc:?}");
    }
}

fn begin(ledger: &Ledger, call: &mut Call) {
    let depth = ledger.poll_start(call, KEY, 20, Start::default());
    assert_eq!(depth, Some(0));
}

fn end(ledger: &Ledger, call: &mut Call, end: PollEnd) {
    assert!(ledger.poll_end(call, 0, 30, end).is_some());
}

/// Runs a poll as long as the next one, so that its octave is allocated: loom does not see the
/// allocation.
fn poll(ledger: &Ledger, call: &mut Call, how: PollEnd) {
    let depth = ledger.poll_start(call, KEY, 0, Start::default());
    assert!(depth.is_some_and(|depth| ledger.poll_end(call, depth, 10, how).is_some()));
}

/// `before` prepares the ledger; `meanwhile` runs while the reader reads.
fn ledger_is_exact(before: fn(&Ledger, &mut [Call; 2]), meanwhile: fn(&Ledger, &mut [Call; 2])) {
    // One preemption anywhere, and whatever loads may see then: tens of thousands of runs.
    interrupted(1, move || {
        let ledger = Arc::new(Ledger::new(1, &alloc::sync::Arc::default()));
        let mut calls = [Call::default(), Call::default()];
        before(&ledger, &mut calls);
        // Storage is made first: loom does not see the allocation.
        ledger.rows.iter().for_each(|(_, row)| row.make_kept());
        let reader = {
            let ledger = ledger.clone();
            thread::spawn(move || check(&ledger))
        };
        meanwhile(&ledger, &mut calls);
        reader.join().expect("the reader");
        check(&ledger);
    });
}

#[test]
fn loom_a_ledger_is_read_around_the_creation_of_a_call() {
    ledger_is_exact(
        |ledger, [_, before]| poll(ledger, before, PollEnd::Ready),
        |ledger, [call, _]| *call = Call::new(ledger.create(KEY, 20)),
    );
}

#[test]
fn loom_a_ledger_is_read_around_the_beginning_of_a_poll() {
    ledger_is_exact(
        |ledger, [call, _]| *call = Call::new(ledger.create(KEY, 10)),
        |ledger, [call, _]| begin(ledger, call),
    );
}

#[test]
fn loom_a_ledger_is_read_around_the_end_of_a_poll() {
    ledger_is_exact(
        |ledger, [call, before]| {
            poll(ledger, before, PollEnd::Pending);
            begin(ledger, call);
        },
        |ledger, [call, _]| end(ledger, call, PollEnd::Pending),
    );
}

#[test]
fn loom_a_ledger_is_read_around_the_end_of_a_call() {
    ledger_is_exact(
        |ledger, [call, before]| {
            poll(ledger, before, PollEnd::Ready);
            begin(ledger, call);
        },
        |ledger, [call, _]| end(ledger, call, PollEnd::Ready),
    );
}
