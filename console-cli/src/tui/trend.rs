//! The last minute of four numbers of the header, as the console has seen them: busy time, live
//! tasks, ready latency and wakes.

use turbowish_model::snapshot::quantile::Percentile;
use turbowish_model::snapshot::units::{self, SECOND};
use turbowish_model::snapshot::{Accounting, Snapshot, report};

/// Number of cells; each is 3 s.
pub(crate) const CELLS: usize = 20;
const CELL_NS: u64 = 3 * SECOND;

/// A number with a trend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Series {
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
    pub(crate) const ALL: [Self; 4] = [Self::Busy, Self::Tasks, Self::Ready, Self::Wakes];

    /// The number in a snapshot; `None` if nothing was measured.
    fn of(self, shown: &Snapshot) -> Option<u64> {
        let latency = &shown.ready_latency;
        match self {
            Self::Busy => {
                let busy = shown.workers.iter().map(|worker| worker.busy_ns);
                Some(units::ppb(busy.sum(), shown.window_ns))
            }
            Self::Tasks => Some(report::covered(shown)),
            Self::Ready => latency.percentile(Percentile::whole(99)),
            Self::Wakes => Some(units::micro_per_second(latency.n, shown.window_ns)),
        }
    }
}

/// The cells of all series; the last one is in progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trends {
    /// Number of the last cell, counted from the start of the process.
    newest: u64,
    cells: [[u64; CELLS]; Series::ALL.len()],
}

impl Trends {
    /// Notes the numbers of a snapshot. A cell has the largest one: a short peak must not vanish.
    pub(crate) fn note(&mut self, shown: &Snapshot) {
        let cell = shown.process.uptime_ns / CELL_NS;
        if shown.process.accounting == Accounting::Disarmed {
            return;
        }
        if cell < self.newest {
            // Another process, or one that was started again.
            *self = Self::default();
        }
        let gone = usize::try_from(cell - self.newest).unwrap_or(CELLS);
        self.newest = cell;
        for (series, cells) in Series::ALL.into_iter().zip(&mut self.cells) {
            let gone = gone.min(CELLS);
            cells.rotate_left(gone);
            cells[CELLS - gone..].fill(0);
            let [.., last] = cells;
            *last = series.of(shown).unwrap_or(0).max(*last);
        }
    }

    /// The last minute of a series before that age of the process, oldest first, in `count` cells.
    /// Cells from before the console was there are zero.
    pub(crate) fn of(&self, series: Series, uptime_ns: u64, count: usize) -> Vec<u64> {
        let later = self.newest.saturating_sub(uptime_ns / CELL_NS);
        let later = usize::try_from(later).unwrap_or(CELLS).min(CELLS);
        let mut cells = self.cells[series as usize];
        cells.rotate_right(later);
        cells[..later].fill(0);
        let joined = cells.chunks(CELLS.div_ceil(count.max(1)));
        joined
            .map(|cells| cells.iter().copied().max().unwrap_or(0))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use turbowish_model::snapshot::units::SECOND;
    use turbowish_model::snapshot::{Accounting, Snapshot};

    use super::{CELLS, Series, Trends};

    /// So many tasks wait at that second of the process's life.
    fn at(second: u64, tasks: u64) -> Snapshot {
        let mut shown = Snapshot::default();
        shown.process.uptime_ns = second * SECOND;
        shown.process.accounting = Accounting::Armed;
        shown.tasks_by_state.waiting = tasks;
        shown
    }

    /// The last cells of the number of tasks, after these samples.
    fn check(samples: &[(u64, u64)], shown: u64, expected: &[u64]) {
        let mut trends = Trends::default();
        for &(second, tasks) in samples {
            trends.note(&at(second, tasks));
        }
        let cells = trends.of(Series::Tasks, shown * SECOND, CELLS);
        assert!(cells.ends_with(expected), "{samples:?}: {cells:?}");
        let before = &cells[..CELLS - expected.len()];
        assert!(before.iter().all(|&cell| cell == 0), "{cells:?}");
    }

    #[test]
    fn a_cell_has_the_largest_number_of_three_seconds() {
        check(&[(600, 5)], 600, &[5]);
        check(&[(600, 5), (601, 9), (602, 7), (603, 4)], 603, &[9, 4]);
        // Nothing was seen for a while.
        check(&[(600, 5), (609, 6)], 609, &[5, 0, 0, 6]);
        check(&[(600, 5), (700, 6)], 700, &[6]);
        // A process that was started again.
        check(&[(600, 5), (6, 1)], 6, &[1]);
    }

    #[test]
    fn a_frozen_screen_keeps_its_minute() {
        check(&[(600, 5), (603, 6), (606, 7)], 603, &[5, 6]);
        check(&[(600, 5), (603, 6), (606, 7)], 606, &[5, 6, 7]);
        check(&[(600, 5), (606, 7)], 500, &[]);
    }

    #[test]
    fn fewer_cells_keep_the_peaks() {
        let mut trends = Trends::default();
        for (second, tasks) in [(597, 3), (600, 9), (603, 1), (606, 2)] {
            trends.note(&at(second, tasks));
        }
        let cells = trends.of(Series::Tasks, 606 * SECOND, CELLS / 2);
        assert_eq!(cells.len(), CELLS / 2);
        assert!(cells.ends_with(&[0, 9, 2]), "{cells:?}");
    }
}
