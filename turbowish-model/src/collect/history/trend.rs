//! Trend of the last minute: each proc's share of a core in cells of equal length.

use alloc::vec;
use alloc::vec::Vec;

use super::{History, Totals};
use crate::account::counters::Sum;

/// Maximum number of cells of a trend.
pub const CELLS: u64 = 20;

/// Each proc's share of one core, cell by cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trend {
    /// Number of cells per proc: fewer than [`CELLS`] shortly after the start.
    cells: usize,
    /// Cells of all procs, one proc after the other, in millionths of one core.
    ppm: Vec<u64>,
}

impl Trend {
    /// Cells of a proc in millionths of one core, oldest first; the last cell is in progress.
    #[must_use]
    pub fn of(&self, proc: u32) -> &[u64] {
        let begin = self.cells.saturating_mul(proc as usize);
        let end = begin.saturating_add(self.cells);
        self.ppm.get(begin..end).unwrap_or_default()
    }
}

/// A stretch of time, in clock ticks.
#[derive(Clone, Copy)]
struct Span {
    begin: u64,
    end: u64,
}

impl Span {
    /// Length of the overlap with another span.
    fn within(self, other: Self) -> u64 {
        let end = self.end.min(other.end);
        end.saturating_sub(self.begin.max(other.begin))
    }
}

/// Exclusive time of all procs, by cell.
struct Cells {
    /// Length of a cell, in clock ticks.
    length: u64,
    /// Number of the first cell, counted from clock tick 0.
    oldest: u64,
    count: usize,
    sums: Vec<u64>,
}

impl Cells {
    fn span(&self, nth: usize) -> Span {
        let begin = (self.oldest + nth as u64).saturating_mul(self.length);
        Span {
            begin,
            end: begin.saturating_add(self.length),
        }
    }

    /// Distributes the growth of a stretch over the cells it overlaps, in proportion to the
    /// overlap.
    fn add(&mut self, proc: usize, running: u64, stretch: Span) {
        let length = stretch.end.saturating_sub(stretch.begin).max(1);
        let first = (stretch.begin / self.length).saturating_sub(self.oldest);
        for nth in first as usize..self.count {
            let part = stretch.within(self.span(nth));
            if part == 0 {
                return;
            }
            let part = u128::from(running) * u128::from(part) / u128::from(length);
            if let Some(sum) = self.sums.get_mut(proc * self.count + nth) {
                *sum = sum.saturating_add(u64::try_from(part).unwrap_or(u64::MAX));
            }
        }
    }
}

impl History {
    /// Each proc's trend over the last [`CELLS`] cells of `cell` clock ticks, independent of the
    /// requested window.
    ///
    /// Cells are aligned to the clock, so a trend moves by whole cells. A tick that overlaps two
    /// cells counts in both, in proportion. The last cell covers the time so far. There are no
    /// cells from before the start or from before accounting was last armed.
    #[must_use]
    pub fn trend(&self, now: &Totals, cell: u64) -> Trend {
        let begin = self.stretches().next().map_or(self.last.at, |s| s.begin);
        let seen = Span { begin, end: now.at };
        if cell == 0 || seen.end <= seen.begin {
            return Trend::default();
        }
        let newest = (seen.end - 1) / cell;
        let oldest = (seen.begin / cell).max(newest.saturating_sub(CELLS - 1));
        let count = (newest - oldest + 1) as usize;
        let mut cells = Cells {
            length: cell,
            oldest,
            count,
            sums: vec![0; count * now.aggregate.procs.len()],
        };
        let ends = self.stretches().skip(1).map(|stretch| stretch.begin);
        for (stretch, end) in self.stretches().zip(ends.chain([self.last.at])) {
            let begin = stretch.begin;
            for (proc, stats) in &stretch.growth.procs {
                let running = forward(stats.sum(Sum::Running));
                cells.add(*proc as usize, running, Span { begin, end });
            }
        }
        let since = Span {
            begin: self.last.at,
            end: now.at,
        };
        for (proc, today) in now.aggregate.procs.iter().enumerate() {
            let before = self.last.aggregate.procs.get(proc);
            let before = before.map_or(0, |before| before.sum(Sum::Running));
            let grown = today.sum(Sum::Running).wrapping_sub(before);
            cells.add(proc, forward(grown), since);
        }
        let ppm = cells.sums.iter().enumerate().map(|(at, sum)| {
            let length = seen.within(cells.span(at % count)).max(1);
            let ppm = u128::from(*sum) * 1_000_000 / u128::from(length);
            u64::try_from(ppm).unwrap_or(u64::MAX)
        });
        Trend {
            cells: count,
            ppm: ppm.collect(),
        }
    }
}

/// Zero for a negative sum: a poll read as open may have ended before that reading.
const fn forward(sum: u64) -> u64 {
    if sum > u64::MAX / 2 { 0 } else { sum }
}

#[cfg(test)]
mod tests {
    use super::{History, Totals};
    use crate::account::counters::Sum;

    fn totals(at: u64, running: u64) -> Totals {
        let mut totals = Totals {
            at,
            ..Totals::default()
        };
        totals.aggregate.proc(1).add(Sum::Running, running);
        totals
    }

    /// Proc 1 has run this long at each of these instants, one tick each; the last one is read
    /// without a tick.
    fn check(start: u64, ticks: &[(u64, u64)], cell: u64, expected: &[u64]) {
        let mut history = History::new(start);
        let (last, before) = ticks.split_last().unwrap();
        for &(at, running) in before {
            history.tick(totals(at, running));
        }
        let trend = history.trend(&totals(last.0, last.1), cell);
        assert_eq!(trend.of(1), expected, "{ticks:?} in cells of {cell}");
        assert!(trend.of(0).iter().all(|ppm| *ppm == 0));
        assert!(trend.of(7).is_empty());
    }

    #[test]
    fn a_cell_is_a_share_of_the_time_that_was_seen_of_it() {
        // No time has passed.
        check(1_000, &[(1_000, 0)], 100, &[]);
        check(1_000, &[(1_100, 50)], 0, &[]);
        // One full cell, and one that has just begun.
        check(1_000, &[(1_100, 50)], 100, &[500_000]);
        check(
            1_000,
            &[(1_100, 50), (1_110, 60)],
            100,
            &[500_000, 1_000_000],
        );
        // The first cell was seen in part.
        check(1_050, &[(1_100, 25), (1_200, 25)], 100, &[500_000, 0]);
        // A tick that overlaps two cells counts in both.
        check(
            1_000,
            &[(1_050, 0), (1_150, 100), (1_200, 100)],
            100,
            &[500_000, 500_000],
        );
        // A tick that overlaps many cells, and two cores at once.
        check(
            1_000,
            &[(1_400, 800)],
            100,
            &[2_000_000, 2_000_000, 2_000_000, 2_000_000],
        );
        // The time of an open poll is taken back.
        check(1_000, &[(1_100, 50), (1_200, 40)], 100, &[500_000, 0]);
    }

    #[test]
    fn a_minute_is_kept() {
        let mut history = History::new(0);
        // Ten seconds at one quarter, then at three quarters; a tick is 250.
        for tick in 1..=1_000_u64 {
            let slow = tick.min(960) * 62;
            let fast = tick.saturating_sub(960) * 187;
            history.tick(totals(tick * 250, slow + fast));
        }
        let now = totals(250_000, 960 * 62 + 40 * 187);
        let trend = history.trend(&now, 3_000);
        let cells = trend.of(1);
        assert_eq!(cells.len(), 20);
        // 250 s are 83 cells and a third of one; the last ten seconds are three and a third.
        assert!(
            cells[..16]
                .iter()
                .all(|ppm| (247_000..249_000).contains(ppm)),
            "{cells:?}"
        );
        assert!(
            cells[17..]
                .iter()
                .all(|ppm| (747_000..749_000).contains(ppm)),
            "{cells:?}"
        );
        assert!((247_000..749_000).contains(&cells[16]), "{cells:?}");
    }

    #[test]
    fn a_pause_is_not_told() {
        let mut history = History::new(0);
        history.tick(totals(1_000, 900));
        history.resume(totals(5_000, 900));
        let trend = history.trend(&totals(5_100, 950), 100);
        assert_eq!(trend.of(1), [500_000]);
    }
}
