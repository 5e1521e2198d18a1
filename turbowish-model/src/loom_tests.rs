//! Under loom every order of the threads' steps is tried, and every value that a relaxed load may see.
//!
//! Run with `RUSTFLAGS="--cfg loom"`; see ARCHITECTURE.md. What is not seen by loom: `once_cell`'s boxes, by which storage grows.

use loom::sync::Arc;
use loom::thread;

use crate::histogram::{Buckets, Histogram};
use crate::row::{Row, Sum};
use crate::sequence::Sequence;
use crate::sync::AtomicU64;
use crate::tally::ProcTally;
use crate::task::{Birth, TaskCell};
use crate::trail::Step;

use core::sync::atomic::Ordering::Relaxed;

#[test]
fn loom_a_reader_sees_whole_events_only() {
    #[derive(Default)]
    struct Pair {
        sequence: Sequence,
        words: [AtomicU64; 2],
    }
    loom::model(|| {
        let pair = Arc::new(Pair::default());
        let writer = {
            let pair = pair.clone();
            thread::spawn(move || {
                for nth in 1..=2 {
                    let writing = pair.sequence.write();
                    pair.words[0].store(nth, Relaxed);
                    pair.words[1].store(nth, Relaxed);
                    drop(writing);
                }
            })
        };
        let read = || [0, 1].map(|at: usize| pair.words[at].load(Relaxed));
        let [first, second] = pair.sequence.read(&mut || (), read);
        assert_eq!(first, second);
        writer.join().expect("the writer");
        assert_eq!(pair.sequence.read(&mut || (), read), [2, 2]);
    });
}

#[test]
fn loom_a_task_is_read_as_it_was_between_two_events() {
    loom::model(|| {
        let cell = Arc::new(TaskCell::new(Birth::default()));
        let writer = {
            let cell = cell.clone();
            thread::spawn(move || {
                cell.begin(1, 6, 10);
                cell.end(15, 5, 5, |each| {
                    each(Step {
                        level: 0,
                        proc: 3,
                        site: 1,
                        since: 15,
                    });
                    true
                });
            })
        };
        let reading = cell.read(&mut || ());
        let steps: alloc::vec::Vec<_> = reading.stack.iter().map(|step| step.proc).collect();
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
        writer.join().expect("the writer");
    });
}

#[test]
fn loom_no_value_of_a_histogram_is_lost_or_counted_twice() {
    loom::model(|| {
        let histogram = Arc::new(Histogram::default());
        let writer = {
            let histogram = histogram.clone();
            thread::spawn(move || {
                histogram.record(3);
                histogram.record(3);
            })
        };
        let mut before = Buckets::default();
        histogram.collect(&mut before);
        let mut now = Buckets::default();
        histogram.collect(&mut now);
        assert!(before.total() <= now.total() && now.total() <= 2);
        writer.join().expect("the writer");
        let mut all = Buckets::default();
        histogram.collect(&mut all);
        assert_eq!(all.total(), 2);
        assert_eq!(all.since(&now).total() + now.total(), 2);
    });
}

#[test]
fn loom_a_row_is_read_as_it_was_between_two_events() {
    #[derive(Default)]
    struct Own {
        sequence: Sequence,
        row: Row,
    }
    loom::model(|| {
        let own = Arc::new(Own::default());
        let writer = {
            let own = own.clone();
            thread::spawn(move || {
                let writing = own.sequence.write();
                own.row.add(Sum::Running, 5);
                own.row.suspend(1, 10);
                own.row.edge(7).polled(5);
                drop(writing);
            })
        };
        let mut tally = own.sequence.read(&mut || (), || {
            let mut tally = ProcTally::default();
            own.row.collect(1, &mut tally);
            tally
        });
        let waits = tally.sites.get(1).map_or(0, |site| site.waits);
        assert_eq!(tally.sum(Sum::Running), waits * 5);
        own.row.collect_details(&mut tally);
        // An edge is one count at a time: never less than what was read before it.
        assert!(tally.edges.get(&7).map_or(0, |edge| edge.polls) >= waits);
        writer.join().expect("the writer");
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
        // As the gatherer does: whoever holds the last reference sees all that was written.
        while Arc::get_mut(&mut own).is_none() {
            thread::yield_now();
        }
        let mut all = Buckets::default();
        own.collect(&mut all);
        assert_eq!(all.total(), 1);
        writer.join().expect("the writer");
    });
}
