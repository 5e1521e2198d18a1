//! Cases that once went wrong: each drives ledgers by hand and compares what a reader sees.

use std::sync::Arc;

use turbowish_model::account::aggregate::{Aggregate, LongestPoll, LongestWait, SiteStats};
use turbowish_model::account::call::{Call, PollEnd, ProcKey};
use turbowish_model::account::counters::{OTHERS, Population, Sum};
use turbowish_model::account::ledger::{Ledger, Start};
use turbowish_model::account::paths::{PATH_LIMIT, Paths};
use turbowish_model::account::task::{ChainCache, TaskCell, TaskMeta};
use turbowish_model::collect::history::{History, Totals};
use turbowish_model::collect::read::ReadRoom;

/// A clock's reading long after the machine was started.
const BOOT: u64 = 5_000_000_000_000_000;

/// A call, and its proc.
struct Known {
    call: Call,
    proc: ProcKey,
}

fn call(proc: u32) -> Known {
    let future_bytes = 0;
    Known {
        call: Call::default(),
        proc: ProcKey {
            id: proc,
            future_bytes,
        },
    }
}

/// The ledgers of two threads.
fn two() -> (Ledger, Ledger) {
    let paths = Arc::<Paths>::default();
    (Ledger::new(1, &paths), Ledger::new(1, &paths))
}

fn create(ledger: &Ledger, known: &mut Known, t: u64) {
    known.call = Call::new(ledger.create(known.proc, t));
}

fn start(ledger: &Ledger, known: &mut Known, t: u64) -> u32 {
    ledger
        .poll_start(&mut known.call, known.proc, t, Start::default())
        .expect("not too deep")
}

fn poll(ledger: &Ledger, known: &mut Known, from: u64, to: u64, end: PollEnd) {
    let depth = start(ledger, known, from);
    ledger.poll_end(&mut known.call, depth, to, end);
}

fn drop_call(ledger: &Ledger, known: &mut Known, t: u64) {
    ledger.drop_call(&mut known.call, known.proc.id, t);
}

fn collect(ledgers: &[&Ledger], now: u64) -> Aggregate {
    let mut room = ReadRoom::default();
    let mut read = |mut aggregate: Aggregate| {
        for ledger in ledgers {
            let mut reading = ledger.read((&mut aggregate, &mut room), &mut || ());
            reading.charge(now, &mut aggregate);
        }
        aggregate.close_open_at(now);
        aggregate
    };
    let aggregate = read(Aggregate::default());
    let mut used = aggregate.clone();
    used.clear();
    assert_eq!(read(used), aggregate, "in memory that was used before");
    aggregate
}

/// Chains of all cells.
static TABLE: Paths = Paths::new(PATH_LIMIT);

thread_local! {
    /// Each test has a thread of its own.
    static CACHE: ChainCache = ChainCache::default();
}

/// Publishes the await stack of a root poll that just ended pending.
fn publish(cell: &TaskCell, ledger: &Ledger) {
    cell.begin(1, 0, 0);
    let ended = cell.end(1, 1, 1);
    match ledger.take_await_stack() {
        Some(taken) => CACHE.with(|cache| ended.publish_taken(&TABLE, cache, &taken)),
        None => ended.unmoved(),
    }
}

/// The chain that a root poll which just ended pending publishes.
fn chain(cell: &TaskCell, ledger: &Ledger) -> Vec<u32> {
    publish(cell, ledger);
    cell.read(&TABLE, &mut || ())
        .stack
        .iter()
        .map(|step| step.proc)
        .collect()
}

#[test]
fn a_wait_may_end_on_another_thread() {
    let (a, b) = two();
    let mut waits = call(0);
    create(&b, &mut waits, 0);
    let depth = start(&b, &mut waits, 10);
    b.arrive(0, 1, false);
    b.poll_end(&mut waits.call, depth, 20, PollEnd::Pending);
    poll(&a, &mut waits, 50, 60, PollEnd::Ready);
    let site = collect(&[&a, &b], 1_000_000).procs[0].sites[1].clone();
    assert_eq!((site.waited, site.now(), site.waits), (30, 0, 1));
}

/// The longest poll of each proc: duration, end, task, await point, thread.
fn longest(aggregate: &Aggregate) -> Vec<[u64; 5]> {
    let procs = aggregate.procs.iter().map(|proc| {
        let LongestPoll {
            hold,
            end,
            task,
            after,
            thread,
        } = proc.longest_poll;
        assert_eq!(hold, proc.peak(Population::PollHold));
        [hold, end, task, after.into(), thread.into()]
    });
    procs.collect()
}

/// The longest wait at an await point: duration, end, task.
fn longest_wait(aggregate: &Aggregate, [proc, site]: [usize; 2]) -> [u64; 3] {
    let site = &aggregate.procs[proc].sites[site];
    assert_eq!(site.longest, site.longest_wait.waited);
    let LongestWait { waited, end, task } = site.longest_wait;
    [waited, end, task]
}

#[test]
fn the_longest_poll_knows_when_it_was_and_where() {
    let (a, b) = two();
    let (a, b) = (a.on_thread(3), b.on_thread(7));
    let (mut outer, mut inner) = (call(0), call(1));
    create(&a, &mut outer, 0);
    let root = |ledger: &Ledger, outer: &mut Known, t: u64, task: u64| {
        let depth = start(ledger, outer, t);
        ledger.name_root(task);
        depth
    };
    // The first poll of both comes after no await.
    let depth = root(&a, &mut outer, 10, 77);
    a.arrive(0, 2, true);
    create(&a, &mut inner, 12);
    let within = start(&a, &mut inner, 12);
    a.arrive(1, 5, false);
    a.poll_end(&mut inner.call, within, 15, PollEnd::Pending);
    a.poll_end(&mut outer.call, depth, 16, PollEnd::Pending);
    let seen = longest(&collect(&[&a, &b], 20));
    assert_eq!(seen, [[6, 16, 77, 0, 3], [3, 15, 77, 0, 3]]);
    // On another thread; a shorter one follows, and one of the same length.
    for (from, to) in [(100, 130), (200, 210), (300, 330)] {
        let depth = root(&b, &mut outer, from, 77);
        let within = start(&b, &mut inner, from + 1);
        b.poll_end(&mut inner.call, within, to - 2, PollEnd::Pending);
        b.poll_end(&mut outer.call, depth, to, PollEnd::Pending);
        b.next_tick();
    }
    let seen = longest(&collect(&[&a, &b], 400));
    assert_eq!(seen, [[30, 130, 77, 2, 7], [27, 128, 77, 5, 7]]);
    // The poll that ends them is the longest one.
    let depth = root(&a, &mut outer, 500, 77);
    poll(&a, &mut inner, 501, 551, PollEnd::Ready);
    a.poll_end(&mut outer.call, depth, 560, PollEnd::Ready);
    let seen = longest(&collect(&[&a, &b], 600));
    assert_eq!(seen, [[60, 560, 77, 2, 3], [50, 551, 77, 5, 3]]);
    // So do the waits: of the outer call from 330 to 500.
    let all = collect(&[&a, &b], 600);
    assert_eq!(longest_wait(&all, [0, 2]), [170, 500, 77]);
    // The polls of the operand of an await end with its caller's.
    assert_eq!(longest_wait(&all, [1, 5]), [171, 501, 77]);
    // A call that is dropped while it waits may be dropped by another task.
    let mut dropped = call(1);
    create(&a, &mut dropped, 1000);
    let depth = root(&a, &mut dropped, 1000, 78);
    a.arrive(1, 5, false);
    a.poll_end(&mut dropped.call, depth, 1010, PollEnd::Pending);
    let depth = root(&a, &mut outer, 1020, 79);
    drop_call(&a, &mut dropped, 1510);
    a.poll_end(&mut outer.call, depth, 1520, PollEnd::Pending);
    let all = collect(&[&a, &b], 2000);
    assert_eq!(longest_wait(&all, [1, 5]), [500, 1510, 0]);
}

#[test]
fn an_end_read_before_its_beginning_makes_no_absurd_time() {
    let (a, b) = two();
    let now = BOOT + 1000;
    let mut aggregate = Aggregate::default();
    a.collect(now, &mut aggregate, &mut || ());
    let mut moves = call(0);
    create(&a, &mut moves, now + 10);
    poll(&b, &mut moves, now + 20, now + 30, PollEnd::Ready);
    b.collect(now, &mut aggregate, &mut || ());
    aggregate.close_open_at(now + 40);
    let off = aggregate.procs[0].sum(Sum::Wall) as i64;
    assert!(off.abs() < 1000, "{off}");
    // What has ended has begun; and wall time is still the sum of its parts.
    aggregate.reconcile();
    let counts = [Sum::Calls, Sum::Started, Sum::Ready].map(|sum| aggregate.procs[0].sum(sum));
    assert_eq!((counts, aggregate.procs[0].live()), ([1, 1, 1], 0));
    let times = [Sum::Wall, Sum::Unstarted, Sum::Hold].map(|sum| aggregate.procs[0].sum(sum));
    assert_eq!(times, [10, 0, 10]);
}

#[test]
fn a_dropped_call_leaves_the_chain() {
    let ledger = Ledger::new(1, &Arc::default());
    let cell = TaskCell::new(TaskMeta::default());
    let (mut parent, mut slow, mut other) = (call(0), call(1), call(2));
    create(&ledger, &mut parent, 0);
    let depth = start(&ledger, &mut parent, 1);
    create(&ledger, &mut slow, 2);
    ledger.arrive(0, 1, false);
    poll(&ledger, &mut slow, 3, 4, PollEnd::Pending);
    ledger.poll_end(&mut parent.call, depth, 5, PollEnd::Pending);
    assert_eq!(chain(&cell, &ledger), [0, 1]);

    // A timeout polls it once more and drops it; then the parent waits for something else.
    let depth = start(&ledger, &mut parent, 100);
    poll(&ledger, &mut slow, 101, 102, PollEnd::Pending);
    drop_call(&ledger, &mut slow, 103);
    create(&ledger, &mut other, 104);
    ledger.arrive(0, 2, true);
    poll(&ledger, &mut other, 105, 106, PollEnd::Pending);
    ledger.poll_end(&mut parent.call, depth, 107, PollEnd::Pending);
    assert_eq!(chain(&cell, &ledger), [0, 2]);

    // Dropped without being polled again, and nothing else in its place.
    let depth = start(&ledger, &mut parent, 200);
    drop_call(&ledger, &mut other, 201);
    ledger.poll_end(&mut parent.call, depth, 202, PollEnd::Pending);
    assert_eq!(chain(&cell, &ledger), [0]);
}

#[test]
fn a_call_polled_several_times_in_one_poll_stands_in_the_chain_once() {
    let ledger = Ledger::new(1, &Arc::default());
    let cell = TaskCell::new(TaskMeta::default());
    let (mut parent, mut child) = (call(0), call(1));
    create(&ledger, &mut parent, 0);
    let depth = start(&ledger, &mut parent, 1);
    ledger.arrive(0, 1, false);
    create(&ledger, &mut child, 2);
    poll(&ledger, &mut child, 3, 4, PollEnd::Pending);
    poll(&ledger, &mut child, 5, 6, PollEnd::Pending);
    ledger.poll_end(&mut parent.call, depth, 7, PollEnd::Pending);
    assert_eq!(chain(&cell, &ledger), [0, 1]);

    let depth = start(&ledger, &mut parent, 11);
    poll(&ledger, &mut child, 13, 14, PollEnd::Pending);
    poll(&ledger, &mut child, 15, 16, PollEnd::Ready);
    ledger.poll_end(&mut parent.call, depth, 17, PollEnd::Pending);
    assert_eq!(chain(&cell, &ledger), [0]);
}

#[test]
fn a_chain_that_did_not_change_is_kept() {
    let ledger = Ledger::new(1, &Arc::default());
    let cell = TaskCell::new(TaskMeta::default());
    let (mut parent, mut child) = (call(0), call(1));
    create(&ledger, &mut parent, 0);
    let depth = start(&ledger, &mut parent, 1);
    create(&ledger, &mut child, 1);
    ledger.arrive(0, 1, true);
    poll(&ledger, &mut child, 2, 3, PollEnd::Pending);
    ledger.poll_end(&mut parent.call, depth, 3, PollEnd::Pending);
    assert_eq!(chain(&cell, &ledger), [0, 1]);
    for t in [10, 20, 30] {
        let depth = start(&ledger, &mut parent, t);
        poll(&ledger, &mut child, t, t + 3, PollEnd::Pending);
        ledger.poll_end(&mut parent.call, depth, t + 3, PollEnd::Pending);
        assert_eq!(chain(&cell, &ledger), [0, 1]);
    }
}

#[test]
fn below_levels_that_stand_still_the_chain_moves() {
    let ledger = Ledger::new(1, &Arc::default());
    let cell = TaskCell::new(TaskMeta::default());
    let mut levels = [call(0), call(1), call(2)];
    let mut wake = |t: u64, site: u32, arrives: u32| {
        let mut depths = Vec::new();
        for (level, known) in levels.iter_mut().enumerate() {
            if t == 0 {
                create(&ledger, known, t);
            }
            depths.push(start(&ledger, known, t));
            if level as u32 >= arrives {
                ledger.arrive(level as u32, site, level < 2);
            }
        }
        for (known, depth) in levels.iter_mut().zip(depths).rev() {
            ledger.poll_end(&mut known.call, depth, t + 3, PollEnd::Pending);
        }
        publish(&cell, &ledger);
        let stack = cell.read(&TABLE, &mut || ()).stack;
        stack
            .iter()
            .map(|step| (step.level, step.proc, step.site, step.since))
            .collect::<Vec<_>>()
    };
    assert_eq!(wake(0, 1, 0), [(0, 0, 1, 3), (1, 1, 1, 3), (2, 2, 1, 3)]);
    assert_eq!(wake(10, 2, 2), [(0, 0, 1, 3), (1, 1, 1, 3), (2, 2, 2, 13)]);
    assert_eq!(wake(20, 0, 9), [(0, 0, 1, 3), (1, 1, 1, 3), (2, 2, 2, 13)]);
    assert_eq!(wake(30, 3, 1), [(0, 0, 1, 3), (1, 1, 3, 33), (2, 2, 3, 33)]);
    // As at first: the chain is cached.
    assert_eq!(
        wake(40, 1, 0),
        [(0, 0, 1, 43), (1, 1, 1, 43), (2, 2, 1, 43)]
    );
    assert_eq!(
        wake(50, 2, 2),
        [(0, 0, 1, 43), (1, 1, 1, 43), (2, 2, 2, 53)]
    );
}

#[test]
fn a_chain_is_shown_whole_to_a_task_that_has_not_seen_it() {
    let ledger = Ledger::new(1, &Arc::default());
    let (mut parent, mut child) = (call(0), call(1));
    let mut wake = |t: u64, cell: &TaskCell, is_new: bool| {
        let depth = start(&ledger, &mut parent, t);
        if is_new {
            ledger.show_all();
        }
        let below = start(&ledger, &mut child, t);
        if t == 0 {
            ledger.arrive(1, 1, false);
        }
        ledger.poll_end(&mut child.call, below, t + 2, PollEnd::Pending);
        if t == 0 {
            ledger.arrive(0, 1, true);
        }
        ledger.poll_end(&mut parent.call, depth, t + 2, PollEnd::Pending);
        ledger.user_code();
        chain(cell, &ledger)
    };
    let (first, second) = (TaskCell::default(), TaskCell::default());
    assert_eq!(wake(0, &first, true), [0, 1]);
    assert_eq!(wake(10, &first, false), [0, 1]);
    assert_eq!(wake(20, &second, true), [0, 1]);
}

#[test]
fn below_a_level_that_is_not_accounted_nothing_is_known_to_stand_still() {
    let ledger = Ledger::new(1, &Arc::default());
    let cell = TaskCell::default();
    let (mut parent, mut child) = (call(0), call(1));
    for (t, expected) in [(0, [0, 1]), (10, [0, 1]), (20, [0, 1])] {
        let depth = start(&ledger, &mut parent, t);
        // The poll of a call without a frame begins.
        ledger.user_code();
        let below = start(&ledger, &mut child, t);
        ledger.arrive(1, 1, false);
        ledger.poll_end(&mut child.call, below, t + 2, PollEnd::Pending);
        ledger.user_code();
        if t == 0 {
            ledger.arrive(0, 1, true);
        }
        ledger.poll_end(&mut parent.call, depth, t + 3, PollEnd::Pending);
        assert_eq!(chain(&cell, &ledger), expected);
    }
}

#[test]
fn of_too_many_pending_calls_the_outermost_are_told() {
    let ledger = Ledger::new(1, &Arc::default());
    let cell = TaskCell::default();
    let mut root = call(7);
    let depth = start(&ledger, &mut root, 1);
    for t in 0..20_000 {
        poll(&ledger, &mut call(3), t, t + 1, PollEnd::Pending);
    }
    ledger.poll_end(&mut root.call, depth, 30_000, PollEnd::Pending);
    assert_eq!(chain(&cell, &ledger)[..3], [7, 3, 3]);
}

#[test]
fn a_call_that_is_polled_over_and_over_in_one_poll_takes_one_place() {
    let ledger = Ledger::new(1, &Arc::default());
    let cell = TaskCell::default();
    let (mut root, mut inner) = (call(0), call(1));
    let depth = start(&ledger, &mut root, 1);
    for t in 0..20_000 {
        poll(&ledger, &mut inner, 10 * t, 10 * t + 1, PollEnd::Pending);
    }
    let mut last = call(2);
    poll(&ledger, &mut last, 300_000, 300_001, PollEnd::Pending);
    ledger.poll_end(&mut root.call, depth, 300_002, PollEnd::Pending);
    assert_eq!(chain(&cell, &ledger), [0, 1, 2]);
}

#[test]
fn at_one_tick_branches_keep_what_is_below_them() {
    let ledger = Ledger::new(1, &Arc::default());
    let cell = TaskCell::default();
    let [mut root, mut left, mut right] = [call(0), call(1), call(1)];
    let [mut below_left, mut below_right] = [call(3), call(4)];
    let depth = start(&ledger, &mut root, 5);
    let branch = |outer: &mut Known, inner: &mut Known| {
        let depth = start(&ledger, outer, 5);
        poll(&ledger, inner, 5, 5, PollEnd::Pending);
        ledger.poll_end(&mut outer.call, depth, 5, PollEnd::Pending);
    };
    branch(&mut left, &mut below_left);
    branch(&mut right, &mut below_right);
    ledger.poll_end(&mut root.call, depth, 5, PollEnd::Pending);
    assert_eq!(chain(&cell, &ledger), [0, 1, 3, 1, 4]);
}

#[test]
fn a_wait_is_over_when_the_poll_begins_that_ends_it() {
    let ledger = Ledger::new(1, &Arc::default());
    let mut waits = call(0);
    create(&ledger, &mut waits, 0);
    let depth = start(&ledger, &mut waits, 10);
    ledger.arrive(0, 1, false);
    ledger.poll_end(&mut waits.call, depth, 20, PollEnd::Pending);
    let seen = |now: u64| {
        let site = collect(&[&ledger], now).procs[0].sites[1].clone();
        assert_eq!(site.wait.total(), site.left);
        (site.waits, site.now(), site.waited, site.longest)
    };
    assert_eq!(seen(50), (1, 1, 30, 0));
    let depth = start(&ledger, &mut waits, 60);
    assert_eq!(seen(70), (1, 0, 40, 40));
    // It stands there still, and waits anew.
    ledger.poll_end(&mut waits.call, depth, 80, PollEnd::Pending);
    assert_eq!(seen(85), (2, 1, 45, 40));
    let depth = start(&ledger, &mut waits, 90);
    assert_eq!(seen(90), (2, 0, 50, 40));
    ledger.arrive(0, 2, false);
    assert_eq!(seen(95), (2, 0, 50, 40));
    ledger.poll_end(&mut waits.call, depth, 100, PollEnd::Ready);
    assert_eq!(seen(200), (2, 0, 50, 40));
}

/// A call of one proc below each of 300 others, which are counted on at most `limit` paths.
fn below_many_callers(limit: u32) -> Aggregate {
    let ledger = Ledger::new(1, &Arc::new(Paths::new(limit)));
    for caller in 1..=300 {
        let (mut parent, mut child) = (call(caller), call(0));
        let t = u64::from(caller) * 10;
        create(&ledger, &mut parent, t);
        let depth = start(&ledger, &mut parent, t);
        create(&ledger, &mut child, t);
        ledger.arrive(caller, 1, true);
        let below = start(&ledger, &mut child, t);
        ledger.arrive(0, 1, false);
        ledger.poll_end(&mut child.call, below, t + 2, PollEnd::Pending);
        ledger.poll_end(&mut parent.call, depth, t + 3, PollEnd::Pending);
        let depth = start(&ledger, &mut parent, t + 4);
        poll(&ledger, &mut child, t + 5, t + 9, PollEnd::Ready);
        ledger.poll_end(&mut parent.call, depth, t + 10, PollEnd::Ready);
    }
    collect(&[&ledger], 4000)
}

#[test]
fn beyond_the_limit_of_paths_nothing_but_the_callers_is_unknown() {
    let (all, some) = (below_many_callers(10_000), below_many_callers(100));
    assert_eq!(all.procs[0].edges.len(), 300);
    assert!(!all.procs[0].edges.contains_key(&OTHERS));
    let edges = &some.procs[0].edges;
    assert!(edges[&OTHERS].polls > 400, "{edges:?}");
    assert!(edges.len() > 1, "{edges:?}");
    let sum = |aggregate: &Aggregate| {
        let edges = aggregate.procs[0].edges.values();
        let (mut polls, mut hold) = (0, 0);
        for edge in edges {
            polls += edge.polls;
            hold += edge.hold;
        }
        (polls, hold)
    };
    assert_eq!((sum(&all), sum(&some)), ((600, 1800), (600, 1800)));
    for (proc, (all, some)) in all.procs.iter().zip(&some.procs).enumerate() {
        assert_eq!((all.sums, all.peaks), (some.sums, some.peaks), "{proc}");
        assert_eq!(all.populations, some.populations, "{proc}");
        let waits = |stats: &[SiteStats]| {
            let of = |site: &SiteStats| (site.waits, site.waited, site.left);
            let all = stats.iter().map(of);
            all.fold((0, 0, 0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2))
        };
        assert_eq!(waits(&all.sites), waits(&some.sites), "{proc}");
    }
}

#[test]
fn populations_sum_finished_values_only() {
    let ledger = Ledger::new(1, &Arc::default());
    let mut busy = call(0);
    create(&ledger, &mut busy, 0);
    poll(&ledger, &mut busy, 0, 7, PollEnd::Pending);
    start(&ledger, &mut busy, 10);
    let aggregate = collect(&[&ledger], 110);
    let proc = &aggregate.procs[0];
    assert_eq!(
        (proc.sum(Sum::Hold), proc.sum_of(Population::PollHold)),
        (107, 7)
    );
    assert_eq!(
        (proc.sum(Sum::Running), proc.sum_of(Population::PollRunning)),
        (107, 7)
    );
    assert_eq!(proc.populations[Population::PollHold as usize].total(), 1);
}

#[test]
fn a_window_holds_no_more_running_than_time() {
    let ledger = Ledger::new(1, &Arc::default());
    let read = |at: u64| {
        let mut totals = Totals {
            at,
            ..Totals::default()
        };
        ledger.collect(at, &mut totals.aggregate, &mut || ());
        totals.aggregate.close_open_at(at);
        totals
    };
    let mut history = History::new(0);
    history.tick(read(100));
    let mut busy = call(0);
    create(&ledger, &mut busy, 100);
    for t in (100..350).step_by(10) {
        poll(&ledger, &mut busy, t, t + 10, PollEnd::Pending);
    }
    let window = history.window(&read(350), Some(250));
    assert_eq!(
        (window.aggregate.procs[0].sum(Sum::Running), window.length),
        (250, 250)
    );
}

#[test]
fn a_reader_never_sees_half_an_event() {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    let (ledger, clock, over) = (
        Ledger::new(1, &Arc::default()),
        AtomicU64::new(BOOT),
        AtomicBool::new(false),
    );
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut waits = call(0);
            create(&ledger, &mut waits, BOOT);
            for nth in 0..300_000u64 {
                let t = BOOT + 2 * nth;
                let depth = start(&ledger, &mut waits, t);
                ledger.arrive(0, 1, false);
                clock.store(t + 1, Ordering::Release);
                ledger.poll_end(&mut waits.call, depth, t + 1, PollEnd::Pending);
                let mut short = call(1);
                create(&ledger, &mut short, t + 1);
                drop_call(&ledger, &mut short, t + 1);
            }
            over.store(true, Ordering::Release);
        });
        let mut readings = 0;
        while !over.load(Ordering::Acquire) || readings == 0 {
            readings += 1;
            let mut aggregate = Aggregate::default();
            let before = clock.load(Ordering::Acquire);
            ledger.collect(before, &mut aggregate, &mut std::thread::yield_now);
            let now = clock.load(Ordering::Acquire) + 2;
            aggregate.close_open_at(now);
            let age = now - BOOT;
            for proc in &aggregate.procs {
                for sum in [Sum::Wall, Sum::Unstarted, Sum::Hold, Sum::Running] {
                    let value = proc.sum(sum) as i64;
                    assert!(
                        (-4..=age as i64 + 4).contains(&value),
                        "{sum:?} {value} after {age}"
                    );
                }
                for site in &proc.sites {
                    let value = site.waited as i64;
                    assert!(
                        (-4..=age as i64 + 4).contains(&value),
                        "waited {value} after {age}"
                    );
                }
            }
        }
    });
}

/// Calls of these procs are polled in each other, and come to an await point as they are numbered,
/// directly or not; the innermost is marked.
#[track_caller]
fn marks(direct: &[bool], expected: Option<u32>) {
    let ledger = Ledger::new(1, &Arc::default());
    let mut calls: Vec<Known> = (0..direct.len() as u32).map(call).collect();
    for (known, direct) in calls.iter_mut().zip(direct) {
        create(&ledger, known, 10);
        start(&ledger, known, 10);
        ledger.arrive(known.proc.id, known.proc.id + 1, *direct);
    }
    assert_eq!(ledger.mark().map(|marked| marked.depth), expected);
    let head = ledger.head().expect("something is polled");
    assert_eq!(head.level > 0, expected.is_some());
    assert!(ledger.is_under(&head));
    for (depth, known) in calls.iter_mut().enumerate().rev() {
        let depth = depth as u32;
        ledger.poll_end(&mut known.call, depth, 20, PollEnd::Pending);
        assert_eq!(known.call.is_marked(), Some(depth) == expected);
    }
}

#[test]
fn only_what_somebody_can_drop_is_marked() {
    marks(&[false], None);
    marks(&[true, true, false], None);
    marks(&[false, false], Some(1));
    marks(&[false, true, true, false], Some(3));
    marks(&[true, false, true, false], Some(3));
}

#[test]
fn a_mark_stays_until_the_call_is_over() {
    let ledger = Ledger::new(1, &Arc::default());
    let (mut outer, mut inner) = (call(0), call(1));
    create(&ledger, &mut outer, 0);
    create(&ledger, &mut inner, 0);
    let polled = |outer: &mut Known, inner: &mut Known, t: u64, marks: bool, end: PollEnd| {
        start(&ledger, outer, t);
        ledger.arrive(0, 3, false);
        let depth = start(&ledger, inner, t);
        let first = if marks {
            ledger.mark().map(|marked| marked.first)
        } else {
            ledger.marked().map(|marked| marked.first)
        };
        ledger.arrive(1, 7, false);
        ledger.poll_end(&mut inner.call, depth, t + 1, end);
        let told = (first, ledger.has_marked(depth), ledger.called_at(depth));
        ledger.poll_end(&mut outer.call, 0, t + 2, PollEnd::Pending);
        told
    };
    let pending = PollEnd::Pending;
    assert_eq!(
        polled(&mut outer, &mut inner, 10, false, pending),
        (None, false, 7)
    );
    assert!(!inner.call.is_marked());
    let marked = polled(&mut outer, &mut inner, 20, true, pending);
    assert_eq!(marked, (Some(true), true, 7));
    let again = polled(&mut outer, &mut inner, 30, false, pending);
    assert_eq!(again, (Some(true), true, 7));
    assert!(inner.call.is_marked() && !outer.call.is_marked());
    // Where it was called is known when it has returned.
    let ready = polled(&mut outer, &mut inner, 40, true, PollEnd::Ready);
    assert_eq!(ready, (Some(true), true, 3));
}

#[test]
fn those_that_fall_together_are_one_fall() {
    let ledger = Ledger::new(1, &Arc::default());
    let mut calls = [call(0), call(1), call(2), call(3)];
    calls.iter_mut().for_each(|known| create(&ledger, known, 0));
    let [outer, one, two, aside] = &mut calls;
    poll(&ledger, aside, 1, 2, PollEnd::Pending);
    start(&ledger, outer, 10);
    ledger.arrive(0, 1, false);
    let depth = start(&ledger, one, 10);
    ledger.arrive(1, 1, true);
    poll(&ledger, two, 10, 11, PollEnd::Pending);
    ledger.poll_end(&mut one.call, depth, 11, PollEnd::Pending);
    assert_eq!(ledger.fallen(), None);
    drop_call(&ledger, one, 12);
    let fallen = ledger.fallen().expect("it fell");
    assert_eq!(fallen.head, 1);
    drop_call(&ledger, two, 12);
    assert_eq!(ledger.fallen(), Some(fallen));
    let mut later = call(4);
    create(&ledger, &mut later, 12);
    assert_eq!(ledger.fallen(), None, "something else has happened");
    drop_call(&ledger, aside, 13);
    assert_eq!(ledger.fallen(), None, "it was not polled here");
    ledger.poll_end(&mut outer.call, 0, 14, PollEnd::Ready);
}

#[test]
fn polls_for_nothing_and_large_operands_are_counted_where_they_are() {
    let ledger = Ledger::new(1, &Arc::default());
    let mut waits = call(0);
    create(&ledger, &mut waits, 0);
    for nth in 0..4 {
        let depth = start(&ledger, &mut waits, 10 * nth);
        if nth == 0 || nth == 3 {
            ledger.arrive(0, 1 + nth as u32, false);
            ledger.awaits(0, 1 + nth as u32, 2_000 + nth);
        }
        ledger.spurious();
        ledger.poll_end(&mut waits.call, depth, 10 * nth + 5, PollEnd::Pending);
    }
    let aggregate = collect(&[&ledger], 100);
    let sites = &aggregate.procs[0].sites;
    let told: Vec<(u64, u64)> = sites
        .iter()
        .map(|site| (site.spurious, site.operand))
        .collect();
    // It has come somewhere new in the first poll, and in the last one.
    assert_eq!(told, [(0, 0), (2, 2_000), (0, 0), (0, 0), (0, 2_003)]);
}

/// A parent polls calls by hand: each named step is one poll, and the answer is whether that was a
/// branch's.
#[derive(Clone, Copy)]
enum Step {
    /// The parent's poll begins; the one before ended pending.
    Again,
    /// It comes to an await point, which awaits an instrumented call itself, or not.
    At(u32, bool),
    /// The same, and it is known to poll several there.
    Combinator(u32),
    Pends(usize),
    Ends(usize),
    Dropped(usize),
}

fn branches(steps: &[Step], expected: &[bool]) {
    let ledger = Ledger::new(1, &Arc::default());
    let mut parent = call(0);
    let mut children = [call(1), call(2), call(3)];
    create(&ledger, &mut parent, 1);
    for child in &mut children {
        create(&ledger, child, 1);
    }
    let mut t = 2;
    let mut depth = start(&ledger, &mut parent, t);
    let mut seen = Vec::new();
    for step in steps {
        t += 1;
        let mut poll = |child: &mut Known, end| {
            let depth = start(&ledger, child, t);
            seen.push(ledger.is_branch());
            assert_eq!(ledger.parent(depth).level, 0);
            ledger.poll_end(&mut child.call, depth, t, end);
        };
        match *step {
            Step::Again => {
                ledger.poll_end(&mut parent.call, depth, t, PollEnd::Pending);
                t += 1;
                depth = start(&ledger, &mut parent, t);
            }
            Step::At(site, direct) => ledger.arrive(0, site, direct),
            Step::Combinator(site) => {
                ledger.arrive(0, site, false);
                ledger.fork(0);
            }
            Step::Pends(nth) => poll(&mut children[nth], PollEnd::Pending),
            Step::Ends(nth) => poll(&mut children[nth], PollEnd::Ready),
            Step::Dropped(nth) => drop_call(&ledger, &mut children[nth], t),
        }
    }
    assert_eq!(seen, expected);
}

#[test]
fn a_second_call_at_one_place_makes_both_of_them_branches() {
    use Step::{Again, At, Combinator, Dropped, Ends, Pends};
    let other = At(1, false);
    branches(&[other, Pends(0), Pends(1), Pends(0)], &[false, true, true]);
    branches(
        &[other, Pends(0), Pends(1), Again, Pends(0)],
        &[false, true, true],
    );
    branches(
        &[other, Pends(0), Pends(1), other, Pends(2)],
        &[false, true, false],
    );
    branches(&[Combinator(1), Pends(0), Again, Pends(0)], &[true, true]);
    // Alone: polled over and over, or one after the other.
    branches(&[other, Pends(0), Pends(0), Again, Pends(0)], &[false; 3]);
    branches(&[other, Ends(0), Pends(1)], &[false; 2]);
    branches(&[other, Pends(0), Dropped(0), Pends(1)], &[false; 2]);
    branches(&[other, Pends(0), Again, Pends(1)], &[false; 2]);
    branches(&[other, Pends(0), At(2, false), Pends(1)], &[false; 2]);
    branches(&[At(1, true), Pends(0), Again, Pends(0)], &[false; 2]);
    branches(&[At(1, true), Pends(0), Pends(1)], &[false; 2]);
}
