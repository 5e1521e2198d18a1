//! The machine's part of a change: if most functions run longer by the same factor, the machine was
//! slower, or something else has changed that they all share. Neither is a change of one function.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use turbowish_model::snapshot::column::{self, Column};
use turbowish_model::snapshot::quantile::Distribution;
use turbowish_model::snapshot::{ProcRow, Snapshot, units};

use crate::args::Share;
use crate::report_file::Saved;

/// Fewer functions than this have nothing in common.
const FUNCTIONS: usize = 4;

/// A median of fewer values than this tells nothing.
const VALUES: u64 = 50;

/// The growth of the running time of calls that the functions of two files share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MachineGrowth {
    /// The middle one of all functions, as after / before.
    pub(super) all: f64,
    /// The part of it that is put down to the machine: no change of one function.
    pub(super) excused: f64,
    /// Number of functions.
    pub(super) functions: usize,
}

impl MachineGrowth {
    /// Nothing is put down to the machine.
    pub(super) const NONE: Self = Self {
        all: 1.0,
        excused: 1.0,
        functions: 0,
    };

    /// Up to `most` in both directions is put down to the machine.
    pub(super) fn of(before: &Saved, after: &Saved, most: Share) -> Self {
        let column = column::find::<ProcRow>("run_p50");
        let told = |column: &Column<ProcRow>| before.tells(column) && after.tells(column);
        let Some(column) = column.filter(told) else {
            return Self::NONE;
        };
        let old = medians(&before.snapshot, &column);
        let new = medians(&after.snapshot, &column);
        let growths = old.iter().filter_map(|(row, old)| {
            let new = new.get(row)?;
            Some(*new as f64 / *old as f64)
        });
        Self::shared(growths.collect(), most)
    }

    fn shared(mut growths: Vec<f64>, most: Share) -> Self {
        if growths.len() < FUNCTIONS {
            return Self::NONE;
        }
        growths.sort_by(f64::total_cmp);
        // Of the two in the middle, that which excuses less.
        let middle = [(growths.len() - 1) / 2, growths.len() / 2];
        let [low, high] = middle.map(|at| growths[at]);
        let all = if low.ln().abs() < high.ln().abs() {
            low
        } else {
            high
        };
        let most = 1.0 + most.0 as f64 / 1e9;
        Self {
            all,
            excused: all.clamp(1.0 / most, most),
            functions: growths.len(),
        }
    }

    /// A time before, as the machine of the time after would have had it: between both.
    pub(super) fn adjusted(self, old: i128, new: i128) -> i128 {
        let moved = (old as f64 * self.excused).round() as i128;
        match (new > old, moved > old) {
            (true, true) => moved.min(new),
            (false, false) => moved.max(new),
            _ => old,
        }
    }

    /// `median of 14 functions: a call runs 18.1 % longer; that is put down to the machine`; `None`
    /// if less than `least` is.
    pub(super) fn sentence(self, least: Share) -> Option<String> {
        let least = 1.0 + least.0 as f64 / 1e9;
        if (1.0 / least..=least).contains(&self.excused) {
            return None;
        }
        let percent = |growth: f64| {
            let off = (growth - 1.0).abs() * 1e9;
            format!("{} %", units::share(off.round() as u64))
        };
        let word = if self.all > 1.0 { "longer" } else { "shorter" };
        let excused = match self.all.total_cmp(&self.excused) {
            Ordering::Equal => "that is".to_owned(),
            _ => format!("{} are", percent(self.excused)),
        };
        Some(format!(
            "median of {} functions: a call runs {} {word}; {excused} put down to the machine (--machine)",
            self.functions,
            percent(self.all),
        ))
    }
}

/// The medians of the functions that were called often enough.
fn medians<'a>(
    snapshot: &'a Snapshot,
    column: &Column<ProcRow>,
) -> BTreeMap<(&'a str, &'a str, u32), u64> {
    let rows = snapshot.procs.rows.iter().filter_map(|row| {
        let (population, percentile) = column.population(row)?;
        let many = |population: &&Distribution| population.n >= VALUES;
        let median = Some(population).filter(many)?.percentile(percentile)?;
        (median > 0).then_some(((&*row.proc, &*row.file, row.line), median))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::{MachineGrowth, Share};

    const HALF: Share = Share(500_000_000);

    fn check(growths: &[f64], all: f64, excused: f64) {
        let found = MachineGrowth::shared(growths.to_vec(), HALF);
        assert_eq!((found.all, found.excused), (all, excused), "{growths:?}");
    }

    #[test]
    fn what_most_functions_share_is_the_machines() {
        check(&[1.2, 1.21, 1.19, 1.2, 1.2], 1.2, 1.2);
        // Two of five are slower for another reason.
        check(&[1.0, 1.0, 2.0, 1.5, 1.0], 1.0, 1.0);
        check(&[0.8, 0.8, 0.8, 0.9, 1.0], 0.8, 0.8);
        // Half of them is not most.
        check(&[1.0, 1.0, 1.0, 1.5, 1.5, 1.5], 1.0, 1.0);
        check(&[0.7, 0.7, 0.7, 1.0, 1.0, 1.0], 1.0, 1.0);
        // A build without optimization is no slow machine.
        check(&[9.0, 10.0, 11.0, 10.0, 10.0], 10.0, 1.5);
        // Too few to share anything.
        check(&[1.2; 3], 1.0, 1.0);
        check(&[1.2; 4], 1.2, 1.2);
    }

    #[test]
    fn a_time_is_moved_towards_the_new_one_and_never_beyond_it() {
        let by = |all: f64, old, new| MachineGrowth::shared(vec![all; 5], HALF).adjusted(old, new);
        assert_eq!(by(1.2, 100, 150), 120);
        assert_eq!(by(1.2, 100, 110), 110);
        assert_eq!(by(1.2, 100, 90), 100);
        assert_eq!(by(0.8, 100, 50), 80);
        assert_eq!(by(0.8, 100, 90), 90);
        assert_eq!(by(0.8, 100, 150), 100);
    }

    #[test]
    fn what_is_put_down_to_the_machine_is_told() {
        let told = |all: f64| MachineGrowth::shared(vec![all; 5], HALF).sentence(Share(20_000_000));
        let line = |told: &str| {
            let line = format!(
                "median of 5 functions: a call runs {told} put down to the machine (--machine)"
            );
            Some(line)
        };
        assert_eq!(told(1.181), line("18.1 % longer; that is"));
        assert_eq!(told(0.9), line("10.0 % shorter; that is"));
        assert_eq!(told(2.0), line("100.0 % longer; 50.0 % are"));
        assert_eq!(told(1.02), None);
        assert_eq!(told(0.99), None);
    }
}
