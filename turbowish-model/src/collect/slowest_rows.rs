//! Rows of the slowest calls: which ones they are, names and times.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::account::aggregate::ProcStats;
use crate::account::counters::{Population, Sum};
use crate::account::histogram::{Buckets, upper_bound};
use crate::account::slow::{SlowPart, class_of_bucket, class_start};
use crate::collect::assemble::{Assembly, Names, positive, ratio_ppm, unseen};
use crate::ordered::Map;
use crate::snapshot::slowest::{
    AWAIT, CALLED, NOT_RECORDED, OTHER_AWAITS, READY, RUNNING, UNSTARTED,
};
use crate::snapshot::{Place, SlowestRow};

/// One call in so many is one of the slowest.
const ONE_IN: u64 = 100;
/// No more than one in so many is, unless it takes as long as all others.
const AT_MOST: u64 = 20;

/// The slowest calls of a proc in a window: those of its highest classes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Slowest {
    /// The lowest class.
    class: u16,
    /// Number of calls.
    calls: u64,
    /// Number of all calls.
    ended: u64,
}

impl Slowest {
    /// The highest classes that have one call in a hundred, but no class more with which they would
    /// have over one in twenty: those are not recorded.
    fn of(walls: &Buckets) -> Option<Self> {
        let mut classes: Vec<(u16, u64)> = Vec::new();
        for (bucket, count) in walls.iter() {
            let class = class_of_bucket(usize::from(bucket));
            match classes.last_mut() {
                Some((last, calls)) if *last == class => *calls += count,
                _ => classes.push((class, count)),
            }
        }
        let ended = walls.total();
        let (class, calls) = classes.pop()?;
        let mut slowest = Self {
            class,
            calls,
            ended,
        };
        for (class, more) in classes.into_iter().rev() {
            let calls = slowest.calls + more;
            if slowest.calls >= ended.div_ceil(ONE_IN) || calls > ended / AT_MOST {
                break;
            }
            slowest = Self {
                class,
                calls,
                ended,
            };
        }
        Some(slowest)
    }
}

/// The sums of the slowest calls, without their classes.
fn parts(stats: &ProcStats, slowest: &Slowest) -> Map<SlowPart, u64> {
    let mut parts = Map::new();
    let mut add = |part, value| {
        let sum: &mut u64 = parts.entry(part).or_default();
        *sum = sum.wrapping_add(value);
    };
    let own = stats.slow.iter();
    for (_, part, value) in own.filter(|(class, ..)| *class >= slowest.class) {
        add(part, value);
    }
    for (bucket, count) in stats.single.iter() {
        let bucket = usize::from(bucket);
        if class_of_bucket(bucket) >= slowest.class {
            let below = bucket.checked_sub(1).map_or(0, upper_bound);
            let time = (below / 2 + upper_bound(bucket) / 2).saturating_mul(count);
            add(SlowPart::Calls, count);
            add(SlowPart::Wall, time);
            add(SlowPart::Running, time);
        }
    }
    parts
}

const fn word(part: SlowPart) -> &'static str {
    match part {
        SlowPart::Await(_) => AWAIT,
        SlowPart::Running => RUNNING,
        SlowPart::Called => CALLED,
        SlowPart::Ready => READY,
        SlowPart::Unstarted => UNSTARTED,
        SlowPart::OtherAwaits => OTHER_AWAITS,
        SlowPart::Calls | SlowPart::Wall | SlowPart::NoRoom => NOT_RECORDED,
    }
}

/// Why times of the slowest calls are not recorded, if so many calls lost theirs; empty if it is
/// the usual reason.
fn why_not_recorded(lost: u64) -> String {
    match lost {
        0 => String::new(),
        1 => "no room for 1 call; others not followed then".to_string(),
        _ => format!("no room for {lost} calls; others not followed then"),
    }
}

impl<N: Names> Assembly<'_, N> {
    /// Returns the parts of the wall time of the slowest calls, for each proc of which calls ended
    /// in the window.
    #[must_use]
    pub fn slowest(&self) -> Vec<SlowestRow> {
        let procs = (0..).zip(&self.window.aggregate.procs);
        procs
            .flat_map(|(id, stats)| self.slowest_of(id, stats))
            .collect()
    }

    fn slowest_of(&self, id: u32, stats: &ProcStats) -> Vec<SlowestRow> {
        let walls = &stats.populations[Population::CallWall as usize];
        let (Some(slowest), Some(name)) = (Slowest::of(walls), self.names.proc(id)) else {
            return Vec::new();
        };
        let sums = parts(stats, &slowest);
        let of = |part| sums.get(&part).copied().unwrap_or(0);
        let (recorded, wall) = (of(SlowPart::Calls).min(slowest.calls), of(SlowPart::Wall));
        let row = |part: SlowPart, time: u64| SlowestRow {
            proc: String::from(name.path),
            part: word(part).to_string(),
            place: match part {
                SlowPart::Await(site) => self.place(id, site).unwrap_or_else(|| unseen(&name)),
                _ => Place::default(),
            },
            time_ns: self.scale.ns(time),
            share_ppm: ratio_ppm(time, wall),
            all_ppm: part_of_all(stats, part),
            wall_ns: self.scale.ns(wall),
            recorded,
            calls: slowest.calls,
            ended: slowest.ended,
            from_ns: self.scale.ns(class_start(slowest.class)),
        };
        let known = sums.iter();
        let known = known.filter(|(part, _)| word(**part) != NOT_RECORDED);
        let sum = known.clone().map(|(_, time)| time).sum();
        let mut rows: Vec<SlowestRow> = known.map(|(&part, &time)| row(part, time)).collect();
        let rest = wall.saturating_sub(sum);
        if rest > 0 || rows.is_empty() {
            let mut rest = row(SlowPart::Wall, rest);
            rest.place.expr = why_not_recorded(of(SlowPart::NoRoom));
            rows.push(rest);
        }
        rows
    }
}

/// Share of a part in the wall time of all calls; `None` if it is not known.
fn part_of_all(stats: &ProcStats, part: SlowPart) -> Option<u64> {
    let sum = |sum| positive(stats.sum(sum));
    let time = match part {
        SlowPart::Running => sum(Sum::Running),
        SlowPart::Called => sum(Sum::Hold)
            .saturating_sub(sum(Sum::Running))
            .saturating_sub(sum(Sum::Foreign)),
        SlowPart::Unstarted => sum(Sum::Unstarted),
        SlowPart::Await(site) => {
            let site = stats.sites.get(usize::from(site))?;
            positive(site.waited)
        }
        _ => return None,
    };
    Some(ratio_ppm(time, sum(Sum::Wall)))
}

#[cfg(test)]
mod tests {
    use super::{Slowest, why_not_recorded};
    use crate::account::histogram::{Buckets, bucket_of};
    use crate::account::slow::class_of;

    fn check(calls: &[(u64, u64)], expected: Option<(u64, u64, u64)>) {
        let mut walls = Buckets::default();
        for &(wall, count) in calls {
            walls.add(bucket_of(wall) as u16, count);
        }
        let expected = expected.map(|(wall, calls, ended)| Slowest {
            class: class_of(wall),
            calls,
            ended,
        });
        assert_eq!(Slowest::of(&walls), expected, "{calls:?}");
    }

    #[test]
    fn calls_that_lost_times_are_told_from_those_that_were_not_followed() {
        let lost = [0, 1, 12].map(why_not_recorded);
        let expected = [
            "",
            "no room for 1 call; others not followed then",
            "no room for 12 calls; others not followed then",
        ];
        assert_eq!(lost, expected);
    }

    #[test]
    fn the_slowest_are_one_in_a_hundred_and_one_at_least() {
        check(&[], None);
        check(&[(5_000, 1)], Some((5_000, 1, 1)));
        check(&[(1_000, 90), (5_000, 1)], Some((5_000, 1, 91)));
        check(&[(1_000, 199), (5_000, 1)], Some((5_000, 1, 200)));
        check(&[(1_000, 200)], Some((1_000, 200, 200)));
        let tail = [(1_000, 970), (5_000, 29), (9_000, 1)];
        check(&tail, Some((5_000, 30, 1_000)));
        check(
            &[(1_000, 980), (5_000, 9), (9_000, 11)],
            Some((9_000, 11, 1_000)),
        );
        // Those of the same class are not told apart.
        check(
            &[(1_000, 980), (5_200, 9), (5_300, 1)],
            Some((5_200, 10, 990)),
        );
    }
}
