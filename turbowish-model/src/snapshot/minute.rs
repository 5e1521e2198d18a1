//! The last minute of four numbers of a process: busy time, live tasks, ready latency and wakes.

use alloc::vec::Vec;

use super::quantile::Percentile;
use super::units::{self, SECOND};
use super::{Accounting, Snapshot, report};

/// Number of cells; each is 3 s.
pub const CELLS: usize = 20;
const CELL_NS: u64 = 3 * SECOND;

/// A number with a last minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Series {
    /// Time in polls of all workers, in billionths of one core.
    Busy,
    /// Live covered tasks.
    Tasks,
    /// 99th percentile of the time from wake to poll, in nanoseconds.
    Ready,
    /// Wakes, in millionths per second.
    Wakes,
}

impl Series {
    /// In the order of the screen.
    pub const ALL: [Self; 4] = [Self::Busy, Self::Tasks, Self::Ready, Self::Wakes];

    /// The number in a snapshot; `None` if nothing was measured.
    fn of(self, shown: &Snapshot) -> Option<u64> {
        let latency = &shown.ready_latency;
        match self {
            Self::Busy => {
                let busy = shown.workers.iter().map(|worker| worker.busy_ns);
                let busy = busy.fold(0, u64::saturating_add);
                Some(units::ppb(busy, shown.window_ns))
            }
            Self::Tasks => Some(report::covered(shown)),
            Self::Ready => latency.percentile(Percentile::whole(99)),
            Self::Wakes => Some(units::micro_per_second(latency.n, shown.window_ns)),
        }
    }
}

/// The cells of all series, at most [`CELLS`] of each. The last one is in progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastMinute {
    /// Number of the last cell, counted from the start of the process.
    pub newest: u64,
    /// Cells of [`Series::Busy`], the oldest first.
    pub busy: Vec<u64>,
    /// Cells of [`Series::Tasks`].
    pub tasks: Vec<u64>,
    /// Cells of [`Series::Ready`].
    pub ready: Vec<u64>,
    /// Cells of [`Series::Wakes`].
    pub wakes: Vec<u64>,
    /// Cells of which nothing is known: for each series a bit for each cell, the last one first.
    /// Such a cell is 0.
    pub unknown: Vec<u64>,
}

impl LastMinute {
    fn series(&self, series: Series) -> &[u64] {
        match series {
            Series::Busy => &self.busy,
            Series::Tasks => &self.tasks,
            Series::Ready => &self.ready,
            Series::Wakes => &self.wakes,
        }
    }

    fn series_mut(&mut self, series: Series) -> &mut Vec<u64> {
        match series {
            Series::Busy => &mut self.busy,
            Series::Tasks => &mut self.tasks,
            Series::Ready => &mut self.ready,
            Series::Wakes => &mut self.wakes,
        }
    }

    /// The numbers of a snapshot, in one cell of each; no cell if accounting is disarmed.
    #[must_use]
    pub fn of_one(shown: &Snapshot) -> Self {
        let mut noted = Self {
            newest: shown.process.uptime_ns / CELL_NS,
            ..Self::default()
        };
        if shown.process.accounting != Accounting::Disarmed {
            for series in Series::ALL {
                noted.set(series, &[series.of(shown)]);
            }
        }
        noted
    }

    /// Sets the cells of a series, the oldest first.
    fn set(&mut self, series: Series, cells: &[Option<u64>]) {
        let unknown = cells.iter().rev().enumerate();
        let unknown = unknown.filter(|(_, cell)| cell.is_none());
        self.unknown.resize(Series::ALL.len(), 0);
        self.unknown[series as usize] = unknown.fold(0, |bits, (ago, _)| bits | 1 << ago);
        *self.series_mut(series) = cells.iter().map(|cell| cell.unwrap_or(0)).collect();
    }

    /// Notes the numbers of a snapshot. A cell has the largest one: a short peak must not vanish.
    /// One that is younger is of another process, or of one that was started again.
    pub fn note(&mut self, shown: &Snapshot) {
        let noted = Self::of_one(shown);
        if noted.busy.is_empty() {
            return;
        }
        if noted.newest < self.newest {
            *self = Self::default();
        }
        self.join(&noted);
    }

    /// Takes in what somebody else has noted of the same process.
    pub fn join(&mut self, other: &Self) {
        let newest = self.newest.max(other.newest);
        let mut all = Self {
            newest,
            ..Self::default()
        };
        for series in Series::ALL {
            let joined = (0..CELLS as u64).rev().map(|ago| {
                let number = newest.checked_sub(ago)?;
                self.at(series, number).max(other.at(series, number))
            });
            let joined: Vec<Option<u64>> = joined.collect();
            all.set(series, &joined);
        }
        *self = all;
    }

    /// A cell by its number; `None` if it is not known.
    fn at(&self, series: Series, number: u64) -> Option<u64> {
        let ago = usize::try_from(self.newest.checked_sub(number)?).ok()?;
        let cells = self.series(series);
        let at = cells.len().checked_sub(ago.checked_add(1)?)?;
        let unknown = self.unknown.get(series as usize).copied().unwrap_or(0);
        let is_known = ago >= CELLS || unknown & 1 << ago == 0;
        cells.get(at).copied().filter(|_| is_known)
    }

    /// In how many of the last `count` cells, which are the last minute before that age of the
    /// process, it was running.
    #[must_use]
    pub fn lived(uptime_ns: u64, count: usize) -> usize {
        let cells = usize::try_from(uptime_ns / CELL_NS).unwrap_or(CELLS);
        let each = CELLS.div_ceil(count.max(1));
        cells.saturating_add(1).min(CELLS).div_ceil(each)
    }

    /// The last minute of a series before that age of the process, oldest first, in `count` cells.
    /// `None`: nothing is known of a cell.
    #[must_use]
    pub fn of(&self, series: Series, uptime_ns: u64, count: usize) -> Vec<Option<u64>> {
        let last = uptime_ns / CELL_NS;
        let cells = (0..CELLS as u64).rev().map(|ago| {
            let number = last.checked_sub(ago)?;
            self.at(series, number)
        });
        let cells: Vec<Option<u64>> = cells.collect();
        let joined = cells.chunks(CELLS.div_ceil(count.max(1)));
        joined
            .map(|cells| cells.iter().copied().flatten().max())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{Accounting, CELLS, LastMinute, SECOND, Series, Snapshot};
    use crate::snapshot::Worker;

    /// So many tasks wait at that second of the process's life.
    fn at(second: u64, tasks: u64) -> Snapshot {
        let mut shown = Snapshot::default();
        shown.process.uptime_ns = second * SECOND;
        shown.process.accounting = Accounting::Armed;
        shown.tasks_by_state.waiting = tasks;
        shown
    }

    fn noted(samples: &[(u64, u64)]) -> LastMinute {
        let mut minute = LastMinute::default();
        for &(second, tasks) in samples {
            minute.note(&at(second, tasks));
        }
        minute
    }

    fn ends(minute: &LastMinute, shown: u64, expected: &[Option<u64>]) {
        let cells = minute.of(Series::Tasks, shown * SECOND, CELLS);
        assert_eq!(cells.len(), CELLS);
        assert!(cells.ends_with(expected), "{cells:?}");
        let before = &cells[..CELLS - expected.len()];
        assert!(before.iter().all(Option::is_none), "{cells:?}");
    }

    /// The last cells of the number of tasks, after these samples.
    fn check(samples: &[(u64, u64)], shown: u64, expected: &[u64]) {
        ends(&noted(samples), shown, &known(expected));
    }

    fn known(cells: &[u64]) -> Vec<Option<u64>> {
        cells.iter().copied().map(Some).collect()
    }

    #[test]
    fn a_cell_has_the_largest_number_of_three_seconds() {
        check(&[(600, 5)], 600, &[5]);
        check(&[(600, 5), (601, 9), (602, 7), (603, 4)], 603, &[9, 4]);
        // Nothing was seen for a while.
        let gap = noted(&[(600, 5), (609, 6)]);
        ends(&gap, 609, &[Some(5), None, None, Some(6)]);
        check(&[(600, 5), (700, 6)], 700, &[6]);
        // A process that was started again.
        check(&[(600, 5), (6, 1)], 6, &[1]);
        check(&[(0, 3), (2, 4), (3, 1)], 3, &[4, 1]);
    }

    #[test]
    fn a_frozen_screen_keeps_its_minute() {
        check(&[(600, 5), (603, 6), (606, 7)], 603, &[5, 6]);
        check(&[(600, 5), (603, 6), (606, 7)], 606, &[5, 6, 7]);
        check(&[(600, 5), (606, 7)], 500, &[]);
    }

    /// What is not known is not zero, also when it has been sent; a number that was not measured is
    /// not known.
    #[test]
    fn a_cell_without_a_number_is_not_zero() {
        let minute = noted(&[(600, 0), (606, 0)]);
        ends(&minute, 606, &[Some(0), None, Some(0)]);
        let latency = minute.of(Series::Ready, 606 * SECOND, CELLS);
        assert_eq!(latency, [None; CELLS]);
        // A process of an earlier version does not tell which.
        let earlier = LastMinute {
            unknown: Vec::new(),
            ..minute
        };
        let cells = earlier.of(Series::Tasks, 606 * SECOND, CELLS);
        assert_eq!(cells, [Some(0); CELLS]);
    }

    #[test]
    fn a_young_process_has_lived_in_a_part_of_the_cells() {
        let check = |second: u64, expected: [usize; 2]| {
            let lived = [CELLS, CELLS / 2].map(|count| LastMinute::lived(second * SECOND, count));
            assert_eq!(lived, expected);
        };
        check(0, [1, 1]);
        check(3, [2, 1]);
        check(6, [3, 2]);
        check(57, [20, 10]);
        check(6_000, [20, 10]);
    }

    #[test]
    fn fewer_cells_keep_the_peaks() {
        let minute = noted(&[(597, 3), (600, 9), (603, 1), (606, 2)]);
        let cells = minute.of(Series::Tasks, 606 * SECOND, CELLS / 2);
        assert_eq!(cells.len(), CELLS / 2);
        assert!(cells.ends_with(&[None, Some(9), Some(2)]), "{cells:?}");
    }

    #[test]
    fn two_who_have_looked_know_all_that_either_has_seen() {
        let process = noted(&[(540, 8), (597, 3), (600, 2), (603, 4)]);
        let mut console = noted(&[(600, 9)]);
        console.join(&process);
        let ends_known = |minute: &LastMinute, shown, expected: &[u64]| {
            let cells = minute.of(Series::Tasks, shown * SECOND, CELLS);
            assert!(cells.ends_with(&known(expected)), "{cells:?}");
        };
        ends_known(&console, 603, &[3, 9, 4]);
        console.note(&at(606, 1));
        console.join(&process);
        ends_known(&console, 606, &[3, 9, 4, 1]);
        // What a peer sends need not have all cells, or has too many.
        let mut short = LastMinute {
            newest: 100,
            tasks: (0..50).collect(),
            ..LastMinute::default()
        };
        short.join(&LastMinute {
            newest: 101,
            ..LastMinute::default()
        });
        assert_eq!(short.of(Series::Busy, 303 * SECOND, CELLS), [None; CELLS]);
        let tasks = short.of(Series::Tasks, 303 * SECOND, CELLS);
        assert_eq!(tasks[..3], [31, 32, 33].map(Some));
        assert_eq!(tasks[CELLS - 2..], [Some(49), None]);
    }

    #[test]
    fn what_a_peer_says_of_another_age_is_nothing() {
        for newest in [0, 3, u64::MAX - 1, u64::MAX] {
            let mut minute = LastMinute {
                newest,
                tasks: (1..=CELLS as u64).collect(),
                ..LastMinute::default()
            };
            let other = minute.clone();
            for seconds in [0, 59, 700, u64::MAX / SECOND] {
                minute.join(&other);
                let cells = minute.of(Series::Tasks, seconds * SECOND, CELLS);
                assert_eq!(cells.len(), CELLS);
            }
        }
        let mut shown = at(3, 1);
        shown.workers = [u64::MAX; 2].map(busy_for).to_vec();
        LastMinute::default().note(&shown);
    }

    fn busy_for(busy_ns: u64) -> Worker {
        Worker {
            busy_ns,
            ..Worker::default()
        }
    }
}
