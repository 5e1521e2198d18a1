//! Events of several threads and epochs, as they are added and as they come.

use alloc::vec::Vec;

use super::{AsyncStacks, CallItem, CallRun, RecordedCalls};
use crate::account::call::PollEnd;
use crate::event::call_ring::CallRecord;
use crate::event::{CallEvent, Event, EventKind};

const CREATE: CallEvent = CallEvent::Create { proc: 0 };
const START: CallEvent = CallEvent::PollStart {
    proc: Some(0),
    root: false,
};
const PENDING: CallEvent = CallEvent::PollEnd(PollEnd::Pending);
const AWAIT: CallEvent = CallEvent::Await {
    proc: 0,
    site: 1,
    direct: false,
};

/// The time, the call and the kind of an event.
type Given = (u64, u32, CallEvent);

/// Events of a thread in epoch 1.
fn run(thread: u64, first: impl Into<Option<u64>>, events: &[Given]) -> CallRun {
    let record = |&(at, number, event): &_| CallRecord { at, number, event };
    CallRun {
        thread,
        epoch: 1,
        first: first.into(),
        events: events.iter().map(record).collect(),
        ..CallRun::default()
    }
}

/// An item as a test writes it.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Event(u64, u64, u64, CallEvent),
    GapBegin(u64, u64),
    GapEnd(u64, u64, u64),
    EpochEnd(u64, u32),
}

use Seen::{EpochEnd, GapBegin, GapEnd};

fn check(runs: impl IntoIterator<Item = CallRun>, expected: &[Seen]) {
    let mut calls = RecordedCalls::default();
    runs.into_iter().for_each(|run| calls.add(run));
    let seen: Vec<Seen> = calls
        .into_iter()
        .map(|item| match item {
            CallItem::Event { event, .. } => {
                let (id, kind) = event.call().expect("a call's");
                Seen::Event(event.t, event.thread, id, kind)
            }
            CallItem::GapBegin { t, thread } => GapBegin(t, thread),
            CallItem::GapEnd { t, thread, lost } => GapEnd(t, thread, lost),
            CallItem::EpochEnd { t, epoch } => EpochEnd(t, epoch),
        })
        .collect();
    assert_eq!(seen, expected);
}

const fn event(t: u64, thread: u64, call: u64, kind: CallEvent) -> Seen {
    Seen::Event(t, thread, call, kind)
}

#[test]
fn events_come_in_their_order_and_name_their_calls() {
    check(
        [
            run(
                1,
                0,
                &[(5, 7, START), (6, 0, AWAIT), (6, 7, PENDING), (9, 0, AWAIT)],
            ),
            run(
                2,
                0,
                &[
                    (4, 7, CREATE),
                    (5, 8, START),
                    (6, 7, START),
                    (7, 0, CallEvent::Unaccounted),
                    (8, 8, PENDING),
                    (8, 0, AWAIT),
                ],
            ),
        ],
        &[
            event(4, 2, 7, CREATE),
            event(5, 1, 7, START),
            event(5, 2, 8, START),
            // At one time, the call is left on one thread before it is taken up on the other.
            event(6, 1, 7, AWAIT),
            event(6, 1, 7, PENDING),
            event(6, 2, 7, START),
            event(7, 2, 7, CallEvent::Unaccounted),
            // The innermost poll is torn down with the one around it: then none is open.
            event(8, 2, 8, PENDING),
        ],
    );
}

#[test]
fn a_gap_is_seen_wherever_it_is_and_closes_what_was_open() {
    // Its numbers say so, whatever the reason: chunks that gave way, or are damaged.
    check(
        [
            run(1, 0, &[(1, 7, START)]),
            run(1, 4, &[(9, 0, AWAIT), (10, 7, PENDING)]),
            run(2, 0, &[(2, 8, START), (5, 0, AWAIT)]),
        ],
        &[
            event(1, 1, 7, START),
            GapBegin(1, 1),
            event(2, 2, 8, START),
            event(5, 2, 8, AWAIT),
            GapEnd(9, 1, 3),
            // The await point of a poll that is not known is left out.
            event(10, 1, 7, PENDING),
        ],
    );
    // Of the beginning.
    check(
        [
            run(1, 100, &[(3, 7, START)]),
            run(2, 0, &[(1, 8, START), (4, 0, AWAIT)]),
        ],
        &[
            event(1, 2, 8, START),
            GapEnd(3, 1, 100),
            event(3, 1, 7, START),
            event(4, 2, 8, AWAIT),
        ],
    );
    // Recordings of before have no numbers, but count what was overwritten.
    let later = CallRun {
        lost: 6,
        ..run(1, None, &[(9, 8, START)])
    };
    check(
        [
            run(1, None, &[(1, 7, START)]),
            run(1, None, &[(2, 7, PENDING)]),
            later,
        ],
        &[
            event(1, 1, 7, START),
            event(2, 1, 7, PENDING),
            GapBegin(2, 1),
            GapEnd(9, 1, 6),
            event(9, 1, 8, START),
        ],
    );
    // The last events of an epoch may be lost.
    let end = CallRun {
        ended: Some(20),
        ..run(1, 3, &[])
    };
    check(
        [run(1, 0, &[(1, 7, START)]), end],
        &[
            event(1, 1, 7, START),
            GapBegin(1, 1),
            GapEnd(20, 1, 2),
            EpochEnd(20, 1),
        ],
    );
}

#[test]
fn what_is_there_twice_counts_once() {
    check(
        [
            run(1, 0, &[(1, 7, START), (2, 7, PENDING)]),
            run(1, 0, &[(1, 7, START)]),
            run(1, 1, &[(2, 7, PENDING), (3, 7, START)]),
        ],
        &[
            event(1, 1, 7, START),
            event(2, 1, 7, PENDING),
            event(3, 1, 7, START),
        ],
    );
}

#[test]
fn epochs_follow_one_another_and_their_ends_are_seen() {
    let of = |epoch, ended, run| CallRun {
        epoch,
        ended,
        ..run
    };
    let second = of(6, None, run(1, 0, &[(30, 9, START), (31, 0, AWAIT)]));
    let end = of(2, Some(20), run(2, 1, &[]));
    check(
        [
            of(2, None, run(1, 0, &[(1, 7, START)])),
            of(2, None, run(2, 0, &[(2, 8, START)])),
            // In the file, the end comes after what follows it.
            second.clone(),
            end.clone(),
        ],
        &[
            event(1, 1, 7, START),
            event(2, 2, 8, START),
            EpochEnd(20, 2),
            event(30, 1, 9, START),
            event(31, 1, 9, AWAIT),
        ],
    );
    // An event that was under way is later than the end.
    check(
        [end.clone(), of(2, None, run(1, 0, &[(21, 7, PENDING)]))],
        &[GapEnd(20, 2, 1), event(21, 1, 7, PENDING), EpochEnd(21, 2)],
    );
    // One that is followed by another has ended, also if that is recorded nowhere.
    check(
        [of(2, None, run(1, 0, &[(1, 7, START)])), second],
        &[
            event(1, 1, 7, START),
            EpochEnd(1, 2),
            event(30, 1, 9, START),
            event(31, 1, 9, AWAIT),
        ],
    );
}

#[test]
fn the_order_is_that_of_the_clock_that_nobody_sets() {
    let set_back = CallRun {
        steady: 1_000,
        ..run(1, 0, &[(6, 7, PENDING)])
    };
    let mut calls = RecordedCalls::default();
    calls.add(set_back);
    calls.add(run(2, 0, &[(1_007, 7, START)]));
    let times: Vec<_> = calls
        .into_iter()
        .filter_map(|item| match item {
            CallItem::Event { event, at } => Some((event.t, at)),
            _ => None,
        })
        .collect();
    assert_eq!(times, [(1_006, 6), (1_007, 1_007)]);
}

/// Files of others may name any thread, in any number: no thread is looked at in vain.
#[test]
fn many_threads_take_no_longer() {
    let mut calls = RecordedCalls::default();
    for thread in 0..100_000 {
        calls.add(run(thread, 1, &[(200_000 - thread, 7, START)]));
    }
    let items: Vec<CallItem> = calls.into_iter().collect();
    assert_eq!(items.len(), 200_000);
    let is_sorted = |pair: &[CallItem]| time(pair[0]) <= time(pair[1]);
    assert!(items.windows(2).all(is_sorted));
}

const fn time(item: CallItem) -> u64 {
    match item {
        CallItem::Event { event, .. } => event.t,
        CallItem::GapBegin { t, .. }
        | CallItem::GapEnd { t, .. }
        | CallItem::EpochEnd { t, .. } => t,
    }
}

/// The stack of a thread as numbers of calls, procs and await points.
fn stack(stacks: &AsyncStacks, thread: u64) -> Vec<(u64, Option<u32>, u32)> {
    let calls = stacks.polled(thread);
    calls.map(|call| (call.id, call.proc, call.site)).collect()
}

/// Two calls of thread 1, one in the poll of the other, which drops a third.
#[test]
fn a_call_is_dropped_in_the_stack_of_its_thread() {
    let create = |proc| CallEvent::Create { proc };
    let start = |proc| CallEvent::PollStart {
        proc: Some(proc),
        root: false,
    };
    let arrive = |proc, site| CallEvent::Await {
        proc,
        site,
        direct: true,
    };
    let mut calls = RecordedCalls::default();
    calls.add(run(
        1,
        0,
        &[
            (1, 1, create(10)),
            (2, 1, start(10)),
            (3, 1, arrive(10, 4)),
            (4, 2, start(20)),
            // The body of another call runs in the poll of this one.
            (5, 2, arrive(30, 9)),
            (6, 2, arrive(20, 5)),
            (7, 3, create(30)),
            (8, 3, CallEvent::Drop),
            (9, 2, PENDING),
            (10, 1, CallEvent::PollEnd(PollEnd::Ready)),
        ],
    ));
    calls.add(CallRun {
        lost: 3,
        ..run(2, None, &[(6, 4, start(40)), (12, 4, PENDING)])
    });
    let mut stacks = AsyncStacks::default();
    let mut seen = Vec::new();
    for item in calls {
        if let CallItem::Event { event, .. } = item
            && let Some((id, CallEvent::Drop)) = event.call()
        {
            let dropped = stacks.call(id).and_then(|call| call.proc);
            seen.push((dropped, stack(&stacks, event.thread)));
            assert_eq!(stack(&stacks, 2), [(4, Some(40), 0)]);
            assert_eq!(stacks.all_polled().count(), 3);
        }
        stacks.item(&item);
    }
    let by = [(1, Some(10), 4), (2, Some(20), 5)].to_vec();
    assert_eq!(seen, [(Some(30), by)]);
    assert_eq!(stacks.all_polled().count(), 0);
    // One that waits is known, those that are over are not.
    let known = [1, 2, 3, 4].map(|id| stacks.call(id).is_some());
    assert_eq!(known, [false, true, false, true]);
}

#[test]
fn nothing_is_known_to_be_polled_after_a_gap_or_an_epoch() {
    let mut stacks = AsyncStacks::default();
    let start = |t, thread| CallItem::Event {
        event: Event {
            t,
            thread,
            kind: EventKind::Call { id: t, kind: START },
        },
        at: t,
    };
    for item in [start(1, 1), start(2, 2)] {
        stacks.item(&item);
    }
    stacks.item(&CallItem::GapBegin { t: 3, thread: 1 });
    assert_eq!((stack(&stacks, 1).len(), stack(&stacks, 2).len()), (0, 1));
    stacks.item(&start(4, 1));
    stacks.item(&CallItem::Event {
        event: Event {
            t: 4,
            thread: 1,
            kind: EventKind::Call { id: 4, kind: AWAIT },
        },
        at: 4,
    });
    let site = |stacks: &AsyncStacks| stacks.call(4).map(|call| call.site);
    assert_eq!(site(&stacks), Some(1));
    let lost = 7;
    stacks.item(&CallItem::GapEnd {
        t: 5,
        thread: 1,
        lost,
    });
    assert_eq!((stack(&stacks, 1).len(), stack(&stacks, 2).len()), (0, 1));
    assert_eq!(site(&stacks), Some(0), "it may have moved");
    stacks.item(&CallItem::EpochEnd { t: 6, epoch: 1 });
    assert_eq!(stacks.all_polled().count(), 0);
    assert_eq!(stacks.call(2), None);
}
