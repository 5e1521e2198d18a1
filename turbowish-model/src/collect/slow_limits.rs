//! From which age on the calls of a proc are followed, since they are among its slowest: so many
//! that the slowest 1 % are among them, and so few that it costs nothing.

use alloc::vec::Vec;
use core::ops::Range;

use crate::account::aggregate::Growth;
use crate::account::counters::Population;
use crate::account::histogram::{Buckets, upper_bound};
use crate::account::slow::{SLOW_BUDGET, SlowLimit};
use crate::ordered::Map;

/// One call in so many is followed.
const ONE_IN: u64 = 20;
/// Calls per quarter of a second that are followed in any case, from their first poll on: 256 a
/// second. Where all calls wait about as long, the long wait is over before a call is known to be a
/// slow one.
const PER_QUARTER: u64 = 64;
/// Quarters of a second after which the older half of the calls is forgotten: five seconds.
const HALF: u64 = 20;

/// Wall times of the calls of each proc in the last 5 to 10 s, and what follows from them.
#[derive(Debug, Default)]
pub struct SlowLimits {
    /// Quarters of a second since the start.
    now: u64,
    procs: Map<u32, RecentCalls>,
}

#[derive(Debug, Default)]
struct RecentCalls {
    /// When `newer` begins, in quarters of a second.
    begun: u64,
    older: Buckets,
    newer: Buckets,
}

impl SlowLimits {
    /// Adds the calls of a tick that was so many quarters of a second long. Returns the limits of
    /// the procs in which calls ended.
    pub fn tick(&mut self, growth: &Growth, quarters: u64) -> Vec<SlowLimit> {
        // After a stop of the process, the calls are not those of all that time.
        let quarters = quarters.min(HALF);
        let begin = self.now;
        self.now += quarters;
        let tick = begin..self.now;
        let least = SLOW_BUDGET.saturating_mul(quarters as u32);
        let ended = growth.procs.iter().filter_map(|(proc, stats)| {
            let walls = &stats.populations[Population::CallWall as usize];
            let calls = walls.total();
            (calls > 0).then_some((*proc, walls, calls))
        });
        let mut limits = Vec::new();
        for (proc, walls, calls) in ended {
            let recent = self.procs.entry(proc).or_default();
            limits.push(SlowLimit {
                proc,
                age: recent.add(walls, &tick),
                budget: u32::try_from(calls / 4)
                    .unwrap_or(u32::MAX)
                    .saturating_add(least),
            });
        }
        limits
    }
}

impl RecentCalls {
    /// Adds the calls of a tick. Returns the age from which on calls are followed.
    fn add(&mut self, walls: &Buckets, tick: &Range<u64>) -> u64 {
        let age = tick.start - self.begun;
        if age >= HALF {
            let newer = core::mem::take(&mut self.newer);
            self.older = if age >= 2 * HALF {
                Buckets::default()
            } else {
                newer
            };
            self.begun = tick.start;
        }
        self.newer.merge(walls);
        let quarters = tick.end - self.begun;
        let newer = slow_from(&self.newer, quarters);
        if self.older == Buckets::default() {
            return newer;
        }
        let mut all = self.older.clone();
        all.merge(&self.newer);
        // After a burst of slow calls, the newer ones decide.
        newer.min(slow_from(&all, quarters + HALF))
    }
}

/// The age from which on calls are followed, if these ended in so many quarters of a second.
fn slow_from(walls: &Buckets, quarters: u64) -> u64 {
    let most = (walls.total() / ONE_IN).max(PER_QUARTER * quarters);
    let buckets: Vec<(u16, u64)> = walls.iter().collect();
    let mut calls = 0;
    for (bucket, count) in buckets.into_iter().rev() {
        calls += count;
        if calls > most {
            return upper_bound(usize::from(bucket)).saturating_add(1);
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::{HALF, SlowLimits};
    use crate::account::aggregate::{Growth, ProcStats};
    use crate::account::counters::Population;
    use crate::account::histogram::bucket_of;

    /// Calls that ended in a tick, by wall time.
    fn growth(calls: &[(u64, u64)]) -> Growth {
        let mut stats = ProcStats::default();
        for &(wall, count) in calls {
            let walls = &mut stats.populations[Population::CallWall as usize];
            walls.add(bucket_of(wall) as u16, count);
        }
        Growth {
            procs: vec![(7, stats)],
            ..Growth::default()
        }
    }

    fn age(limits: &mut SlowLimits, calls: &[(u64, u64)]) -> u64 {
        let set = limits.tick(&growth(calls), 1);
        assert_eq!((set.len(), set[0].proc), (1, 7));
        set[0].age
    }

    #[test]
    fn few_calls_are_all_followed_and_of_many_one_in_twenty() {
        let mut limits = SlowLimits::default();
        assert_eq!(age(&mut limits, &[(1_000, 10)]), 1);
        // As many as a pool serves that all calls wait for.
        assert_eq!(age(&mut limits, &[(1_000, 50), (9_000, 4)]), 1);
        let mut limits = SlowLimits::default();
        let many = [(1_000, 990), (50_000, 40), (90_000, 10)];
        let from = age(&mut limits, &many);
        assert!(from > 1_000 && from < 2_000, "{from}");
        // The slowest ones are too many to follow those below them.
        let from = age(&mut limits, &[(50_000, 300)]);
        assert!(from > 50_000 && from < 60_000, "{from}");
    }

    #[test]
    fn after_a_burst_of_slow_calls_the_newer_ones_decide() {
        let mut limits = SlowLimits::default();
        assert!(age(&mut limits, &[(1_000_000, 1_000)]) > 1_000_000);
        for _ in 1..HALF {
            age(&mut limits, &[(1_000, 50)]);
        }
        let from = age(&mut limits, &[(1_000, 100), (4_000, 5)]);
        assert!(from > 1_000 && from < 4_000, "{from}");
    }

    #[test]
    fn what_is_long_ago_is_forgotten() {
        let mut limits = SlowLimits::default();
        age(&mut limits, &[(1_000_000, 1_000)]);
        for _ in 0..2 * HALF {
            limits.tick(&Growth::default(), 1);
        }
        let from = age(&mut limits, &[(1_000, 990), (4_000, 10)]);
        assert!(from > 1_000 && from < 4_000, "{from}");
    }

    #[test]
    fn a_proc_without_calls_has_no_limit_and_nothing_is_kept_of_it() {
        let mut limits = SlowLimits::default();
        assert!(limits.tick(&growth(&[]), 1).is_empty());
        assert!(limits.procs.is_empty());
    }

    /// The same calls, in four ticks or in one that is as long.
    #[test]
    fn a_long_tick_is_as_several_short_ones() {
        let (mut short, mut long) = (SlowLimits::default(), SlowLimits::default());
        for second in 0..25 {
            let wall = 1_000 << (second % 7);
            let last = (0..4).map(|_| age(&mut short, &[(wall, 100), (9_000_000, 3)]));
            let last = last.last();
            let set = long.tick(&growth(&[(wall, 400), (9_000_000, 12)]), 4);
            assert_eq!(Some(set[0].age), last, "second {second}");
        }
    }
}
