//! Delays against an oracle: what ran between a wake and a poll, to the tick.

use std::collections::BTreeMap;
use std::sync::Arc;

use turbowish_model::account::aggregate::Aggregate;
use turbowish_model::account::call::{Call, PollEnd, ProcKey};
use turbowish_model::account::delays::{Culprit, DelayKey, DelayStats};
use turbowish_model::account::ledger::{Ledger, Start};
use turbowish_model::account::paths::Paths;
use turbowish_model::collect::history::{History, Totals};
use turbowish_testing::numbers::Numbers;

/// A clock's reading long after the machine was started.
const BOOT: u64 = 5_000_000_000_000_000;
/// Polls that a thread keeps at least.
const KEPT: usize = 240;
/// Root functions that a thread tells apart.
const ROOTS: usize = 31;

fn start(ledger: &Ledger, proc: u32, t: u64) -> (Call, u32) {
    let key = ProcKey {
        id: proc,
        future_bytes: 0,
    };
    let root = Start {
        root: true,
        ..Start::default()
    };
    let mut call = Call::new(ledger.born());
    let depth = ledger.poll_start(&mut call, key, t, root);
    (call, depth.expect("not too deep"))
}

/// A poll of a task whose root is a call of `proc`, which was ready for so long.
fn poll(ledger: &Ledger, proc: u32, ready: u64, [from, to]: [u64; 2]) {
    let (mut call, depth) = start(ledger, proc, from);
    ledger.ready(proc, ready, 1);
    ledger.poll_end(&mut call, depth, to, PollEnd::Pending);
}

fn collect(ledgers: &[&Ledger], now: u64) -> Aggregate {
    let mut aggregate = Aggregate::default();
    for ledger in ledgers {
        ledger.collect(now, &mut aggregate, &mut || ());
    }
    aggregate
}

fn key(victim: u32, culprit: Culprit) -> DelayKey {
    DelayKey {
        victim: Some(victim),
        culprit,
    }
}

fn stats(polls: u64, ticks: u64) -> DelayStats {
    DelayStats { polls, ticks }
}

type Sums = Vec<(DelayKey, DelayStats)>;

fn delays(ledgers: &[&Ledger], now: u64) -> Sums {
    collect(ledgers, now).delays.into_iter().collect()
}

#[test]
fn ready_time_is_shared_out_to_the_polls_on_the_same_worker() {
    let ledger = Ledger::new(1, &Arc::default());
    poll(&ledger, 3, 0, [100, 200]);
    poll(&ledger, 5, 0, [210, 240]);
    // Woken at 150, while 3 is polled.
    poll(&ledger, 4, 100, [250, 260]);
    let seen = delays(&[&ledger], 300);
    let expected = [
        (key(4, Culprit::Proc(3)), stats(1, 50)),
        (key(4, Culprit::Proc(5)), stats(1, 30)),
        (key(4, Culprit::Idle), stats(1, 20)),
    ];
    assert_eq!(seen, expected);
    // Woken when 4 ended: nothing ran.
    poll(&ledger, 3, 40, [300, 310]);
    let idle = (key(3, Culprit::Idle), stats(1, 40));
    assert_eq!(delays(&[&ledger], 400)[0], idle);
}

#[test]
fn a_task_that_another_poll_drives_is_behind_that_poll() {
    let ledger = Ledger::new(1, &Arc::default());
    let (mut outer, depth) = start(&ledger, 1, 100);
    poll(&ledger, 2, 0, [110, 150]);
    poll(&ledger, 3, 70, [160, 170]);
    ledger.poll_end(&mut outer, depth, 200, PollEnd::Pending);
    let expected = [
        (key(3, Culprit::Proc(1)), stats(1, 60)),
        (key(3, Culprit::Idle), stats(1, 10)),
    ];
    assert_eq!(delays(&[&ledger], 300), expected);
}

#[test]
fn what_is_not_kept_is_not_guessed() {
    let ledger = Ledger::new(1, &Arc::default());
    for nth in 0..10_000 {
        poll(&ledger, 7, 0, [nth * 10, nth * 10 + 8]);
    }
    poll(&ledger, 1, 90_000, [100_000, 100_001]);
    let seen = delays(&[&ledger], 200_000);
    let [(behind, ran), (nothing, idle), (unknown, earlier)] = seen[..] else {
        panic!("{seen:?}");
    };
    assert_eq!(behind, key(1, Culprit::Proc(7)));
    assert_eq!(nothing, key(1, Culprit::Idle));
    assert_eq!(unknown, key(1, Culprit::Earlier));
    assert_eq!(ran.ticks + idle.ticks + earlier.ticks, 90_000);
    assert_eq!(ran.ticks, idle.ticks / 2 * 8);
    assert!(ran.ticks >= KEPT as u64 * 8, "{ran:?}");
}

#[test]
fn what_has_no_room_is_counted_apart() {
    let ledger = Ledger::new(1, &Arc::default());
    let mut t = 0;
    for proc in 0..600 {
        poll(&ledger, proc, 0, [t, t + 10]);
        poll(&ledger, proc, 10, [t + 10, t + 20]);
        t += 20;
    }
    let seen = delays(&[&ledger], t);
    let ticks: u64 = seen.iter().map(|(_, stats)| stats.ticks).sum();
    let polls: u64 = seen.iter().map(|(_, stats)| stats.polls).sum();
    assert_eq!((polls, ticks), (600, 6_000));
    let own = seen.iter().filter(|(key, _)| key.culprit != Culprit::Other);
    assert_eq!(own.count(), ROOTS);
    let nobody = DelayKey {
        victim: None,
        culprit: Culprit::Other,
    };
    assert_eq!(seen[0].0, nobody);
    assert!(seen[0].1.polls > 300);
}

#[test]
fn a_window_has_the_delays_of_its_time() {
    let ledger = Ledger::new(1, &Arc::default());
    let totals = |at| Totals {
        at,
        aggregate: collect(&[&ledger], at),
        ..Totals::default()
    };
    let mut history = History::new(0);
    poll(&ledger, 1, 0, [0, 100]);
    poll(&ledger, 2, 60, [100, 110]);
    history.tick(totals(250));
    poll(&ledger, 1, 0, [300, 400]);
    poll(&ledger, 2, 70, [400, 410]);
    let delays = |length| {
        let window = history.window(&totals(500), length);
        window.aggregate.delays.into_iter().collect::<Sums>()
    };
    let behind = key(2, Culprit::Proc(1));
    assert_eq!(delays(Some(250)), [(behind, stats(1, 70))]);
    assert_eq!(delays(None), [(behind, stats(2, 130))]);
}

/// What the oracle knows of a thread.
#[derive(Default)]
struct Known {
    now: u64,
    /// Polls at the bottom of the stack: start, end, root proc.
    polls: Vec<(u64, u64, u32)>,
}

impl Known {
    /// Adds the shares of a poll of `victim` that began now, of the ready time up to `until`
    /// of which nothing is known before `since`.
    fn shares(&self, victim: u32, since: u64, until: u64, sums: &mut BTreeMap<DelayKey, u64>) {
        let mut idle = until - since;
        for &(start, end, proc) in self.polls.iter().rev() {
            if end <= since {
                break;
            }
            let part = end.min(until).saturating_sub(start.max(since));
            if part > 0 {
                *sums.entry(key(victim, Culprit::Proc(proc))).or_default() += part;
                idle -= part;
            }
        }
        if idle > 0 {
            *sums.entry(key(victim, Culprit::Idle)).or_default() += idle;
        }
    }
}

fn ticks(ledger: &Ledger) -> BTreeMap<DelayKey, u64> {
    let all = delays(&[ledger], u64::MAX / 4).into_iter();
    all.map(|(key, stats)| (key, stats.ticks)).collect()
}

/// Runs a random program on two threads. Returns how many polls were late, and of how many a part
/// was unknown.
fn run(seed: u64, procs: u64, steps: usize) -> [usize; 2] {
    let mut numbers = Numbers(seed);
    let paths = Arc::<Paths>::default();
    let mut threads = [0, 1].map(|_| {
        let known = Known {
            now: BOOT,
            ..Known::default()
        };
        (Ledger::new(1, &paths), known, BTreeMap::new())
    });
    let (mut late, mut cut) = (0, 0);
    let rare = 1 + numbers.below(400);
    let reach = 1 + numbers.below(30_000);
    for _ in 0..steps {
        let (ledger, known, sums) = &mut threads[numbers.below(2) as usize];
        let gap = numbers.below(3) * numbers.below(50);
        known.now += gap;
        let (from, proc) = (known.now, numbers.below(procs) as u32);
        let (mut call, depth) = start(ledger, proc, from);
        let mut victim = proc;
        let nested = numbers.below(4) == 0;
        if nested {
            known.now += numbers.below(40);
            victim = numbers.below(procs) as u32;
        }
        let until = known.now;
        let inner = nested.then(|| start(ledger, victim, until));
        if numbers.below(rare) == 0 {
            let since = until - numbers.below(reach);
            ledger.ready(victim, until - since, 1);
            late += usize::from(since < until);
            let unknown = key(victim, Culprit::Earlier);
            let of = |sums: &BTreeMap<_, _>| sums.get(&unknown).copied().unwrap_or(0);
            let earlier = of(&ticks(ledger)) - of(sums);
            let missing = known.polls.iter().rev().take_while(|poll| poll.1 > since);
            assert!(earlier == 0 || missing.count() >= KEPT, "{earlier} unknown");
            known.polls.push((from, until, proc));
            known.shares(victim, since + earlier, until, sums);
            known.polls.pop();
            if earlier > 0 {
                *sums.entry(unknown).or_default() += earlier;
                cut += 1;
            }
            assert_eq!(&ticks(ledger), &*sums);
        }
        if let Some((mut call, depth)) = inner {
            known.now += numbers.below(30);
            ledger.poll_end(&mut call, depth, known.now, PollEnd::Pending);
        }
        known.now += numbers.below(60);
        let end = [PollEnd::Pending, PollEnd::Ready][numbers.below(2) as usize];
        ledger.poll_end(&mut call, depth, known.now, end);
        known.polls.push((from, known.now, proc));
    }
    [late, cut]
}

#[test]
fn the_oracle_agrees_on_random_programs() {
    let mut seen = [0; 2];
    for seed in 1..=100 {
        let counts = run(seed << 32 | 0x9e37_79b9, 5 + seed % 8, 1_500);
        seen = [seen[0] + counts[0], seen[1] + counts[1]];
    }
    let [late, cut] = seen;
    assert!(late > 1_000 && cut > 50, "{late} late, {cut} cut");
}
