//! The longest poll and the longest wait of every window, against a list of all of them.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy, any, proptest};
use proptest::test_runner::RngSeed;
use turbowish_model::account::aggregate::{Aggregate, LongestPoll, LongestWait};
use turbowish_model::account::call::{Call, PollEnd, ProcKey};
use turbowish_model::account::histogram::bucket_of;
use turbowish_model::account::ledger::{Ledger, Start};
use turbowish_model::account::paths::Paths;
use turbowish_model::collect::history::{History, Totals};
use turbowish_model::ordered::Map;

/// Length of a tick.
const TICK: u64 = 1_000;
/// Await point of all calls, plus one.
const SITE: usize = 1;
const PROC: ProcKey = ProcKey {
    id: 0,
    future_bytes: 0,
};

/// A poll of a call: which one, and on which thread; the pause before it and its length, in times
/// that are seldom equal.
#[derive(Clone, Copy, Debug)]
struct Step {
    call: usize,
    thread: usize,
    pause: u64,
    hold: u64,
}

/// What has happened within a tick.
#[derive(Default)]
struct Tick {
    begin: u64,
    polls: Vec<LongestPoll>,
    waits: Vec<LongestWait>,
}

struct Play {
    ledgers: [Ledger; 2],
    calls: [(Call, Option<u64>); 3],
    now: u64,
    history: History,
    /// The last one is in progress.
    ticks: Vec<Tick>,
}

impl Play {
    fn new() -> Self {
        let paths = Arc::<Paths>::default();
        let ledger = |thread| Ledger::new(1, &paths).on_thread(thread);
        Self {
            ledgers: [ledger(3), ledger(7)],
            calls: std::array::from_fn(|_| (Call::default(), None)),
            now: 0,
            history: History::new(0),
            ticks: vec![Tick::default()],
        }
    }

    fn step(&mut self, step: Step) {
        let (start, ledger) = (self.now + step.pause, &self.ledgers[step.thread]);
        let (call, last) = &mut self.calls[step.call];
        let task = step.call as u64 + 70;
        let last = last.replace(start + step.hold);
        let end = start + step.hold;
        if last.is_none() {
            *call = Call::new(ledger.create(PROC, start));
        }
        let depth = ledger
            .poll_start(call, PROC, start, Start::default())
            .expect("not too deep");
        ledger.name_root(task);
        ledger.arrive(0, SITE as u32, false);
        ledger.poll_end(call, depth, end, PollEnd::Pending);
        self.now = end;
        let tick = self.ticks.last_mut().expect("one");
        tick.polls.push(LongestPoll {
            hold: step.hold,
            end,
            task,
            after: last.map_or(0, |_| SITE as u32),
            thread: [3, 7][step.thread],
        });
        tick.waits.extend(last.map(|last| LongestWait {
            waited: start - last,
            end: start,
            task,
        }));
        if end >= tick.begin + TICK {
            self.history.tick(self.totals());
            self.ledgers.iter().for_each(Ledger::next_tick);
            self.ticks.push(Tick {
                begin: end,
                ..Tick::default()
            });
        }
    }

    fn totals(&self) -> Totals {
        let mut aggregate = Aggregate::default();
        for ledger in &self.ledgers {
            ledger.collect(self.now, &mut aggregate, &mut || ());
        }
        aggregate.close_open_at(self.now);
        Totals {
            at: self.now,
            aggregate,
            ..Totals::default()
        }
    }

    /// Compares the number of polls above a length, thread by thread.
    fn check_above(&self, length: u64) {
        let bucket = bucket_of(length);
        for (ledger, thread) in self.ledgers.iter().zip([3, 7]) {
            let mut above = Map::new();
            ledger.polls_above(bucket, &mut |proc, own, polls| {
                assert_eq!(proc, PROC.id);
                *above.entry(own).or_insert(0) += polls;
            });
            let polls = self.ticks.iter().flat_map(|tick| &tick.polls);
            let mut expected = Map::new();
            for poll in polls.filter(|poll| poll.thread == thread) {
                let own = bucket_of(poll.hold);
                if own > bucket {
                    *expected.entry(own as u16).or_insert(0) += 1;
                }
            }
            assert_eq!(above, expected, "{thread} {length}");
        }
    }

    /// Compares the window of about this length, or that since the start.
    fn check(&self, length: Option<u64>) {
        let window = self.history.window(&self.totals(), length);
        let begin = self.now - window.length;
        let first = self.ticks.iter().position(|tick| tick.begin >= begin);
        let first = first.expect("a tick begins there");
        let within = &self.ticks[first..];
        let Some(stats) = window.aggregate.procs.first() else {
            assert!(within.iter().all(|tick| tick.polls.is_empty()));
            return;
        };
        let site = stats.sites.get(SITE);
        let longest = |ticks: &[Tick]| {
            let polls = ticks.iter().flat_map(|tick| &tick.polls);
            polls.map(|poll| poll.hold).max().unwrap_or(0)
        };
        let known = stats.known_longest();
        if longest(within) > 0 && longest(within) == stats.recent_longest {
            assert!(known.is_some(), "{:?}", stats.recent_poll);
        }
        if let Some(known) = known {
            assert_eq!(known.hold, stats.recent_longest);
            // The reader's tick, or the one before.
            let mut near = self.ticks[first.saturating_sub(1)..].iter();
            assert!(near.any(|tick| tick.polls.contains(&known)), "{known:?}");
        }
        let waits: Vec<LongestWait> = within
            .iter()
            .flat_map(|tick| &tick.waits)
            .copied()
            .collect();
        let known = site.and_then(|site| site.known_longest());
        let longest = waits.iter().map(|wait| wait.waited).max();
        assert_eq!(known.map(|wait| wait.waited), longest, "{known:?}");
        assert!(known.is_none_or(|known| waits.contains(&known)));
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0..3_usize, 0..2_usize, 0..4_u32, 1..9_u32, any::<u16>());
    let step = step.prop_map(|(call, thread, pause, hold, more)| Step {
        call,
        thread,
        pause: (1 << (3 * pause)) + u64::from(more) % 7,
        hold: (1 << hold) + u64::from(more) % 5,
    });
    vec(step, 1..400)
}

/// The maximum of a window may be that of the tick before.
#[test]
fn a_window_knows_of_the_tick_before_it() {
    let mut play = Play::new();
    for (pause, hold) in [(1, 900), (100, 50), (1, 960)] {
        let (call, thread) = (0, 1);
        play.step(Step {
            call,
            thread,
            pause,
            hold,
        });
    }
    play.step(Step {
        call: 0,
        thread: 1,
        pause: 1,
        hold: 5,
    });
    play.check(Some(10));
    let window = play.history.window(&play.totals(), Some(10));
    let known = window.aggregate.procs[0].known_longest();
    assert_eq!(known.map(|poll| (poll.hold, poll.end)), Some((960, 2012)));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 120,
        rng_seed: RngSeed::Fixed(19),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_longest_of_a_window_is_one_of_that_window(steps in steps(), length in 0..90_u64) {
        let mut play = Play::new();
        for (nth, step) in steps.into_iter().enumerate() {
            play.step(step);
            if nth % 7 == 0 {
                play.check(None);
                play.check(Some(length * TICK));
            }
        }
        for length in [0, length, 300] {
            play.check_above(length);
        }
        for length in [1, 10, 60] {
            play.check(Some(length * TICK));
        }
    }
}
