//! Differences between two tables. Rows are matched by name, and judged by what chance can do.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use turbowish_model::query::Filter;
use turbowish_model::snapshot::Snapshot;
use turbowish_model::snapshot::column::{Column, Context, Style, Unit};
use turbowish_model::snapshot::json::Record;
use turbowish_model::snapshot::units;

use super::chance::{Chance, Growth};
use super::evidence::{self, Evidence, FigureKind};
use super::machine::MachineGrowth;
use crate::args::Share;
use crate::report_file::Saved;

/// Relative changes below this count as no change; in billionths.
pub(super) const SAME: Share = Share(20_000_000);

/// Numbers of tasks and waiters, which tell what piles up.
pub(super) const LEVELS: [&str; 2] = ["live", "waiters"];

/// All differences between two tables.
pub(super) struct Compared {
    /// `procs`
    pub(super) table: &'static str,
    /// Columns of rows that are in both files: failures first, then the largest growth.
    pub(super) changes: Vec<Change>,
    /// Rows that are only in the second file.
    pub(super) new: Vec<String>,
    /// Rows that are only in the first one.
    pub(super) gone: Vec<String>,
    /// Whether each of the files has all rows of its process, so that one that it does not have is
    /// new or gone.
    pub(super) are_whole: [bool; 2],
    /// Name and window of the second file, in nanoseconds.
    pub(super) second: (String, u64),
    /// Number of rows in both files.
    pub(super) both: usize,
    /// Other tables in which rows fail, and how many, if none does here and nothing was requested.
    pub(super) elsewhere: Vec<(&'static str, usize)>,
    /// A change for the worse fails if it exceeds these.
    pub(super) allowed: Allowed,
    /// The share of the calls of one of the windows that may have waited behind its longest poll.
    pub(super) behind: f64,
}

/// What is allowed to change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowed {
    /// Growth, relative to the value before.
    pub(crate) share: Share,
    /// Growth of a duration, in nanoseconds.
    pub(crate) time_ns: u64,
    /// The part of a change of durations that is put down to the machine.
    pub(crate) machine: MachineGrowth,
    /// The columns were not requested: of numbers of tasks and waiters only a large growth is told.
    pub(crate) is_default: bool,
}

/// One column of one row that has changed.
#[derive(Debug)]
pub(super) struct Change {
    /// The name of the row.
    pub(super) row: String,
    /// The column's key, and its title in tables.
    pub(super) column: String,
    pub(super) title: String,
    /// The unit of the column's values.
    pub(super) unit: Unit,
    /// The values before and after.
    pub(super) before: Side,
    pub(super) after: Side,
    /// The verdict on the change.
    pub(super) verdict: Verdict,
    /// What is certain about it.
    pub(super) growth: Growth,
    /// What is measured: `poll_hold`.
    pub(super) field: &'static str,
    /// The values include waits for others.
    pub(super) includes_waits: bool,
}

/// A value in one of the files.
#[derive(Debug)]
pub(super) struct Side {
    /// In the column's unit; `None` if not measured, or not known.
    pub(super) number: Option<i128>,
    /// The value as text for people.
    pub(super) text: String,
    /// Number of values from which it is computed; `None` for a single one.
    pub(super) n: Option<u64>,
}

/// The verdict on a change, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// Worse by more than the allowed change, at least half of which is certain.
    Fail,
    /// Worse, but by less than that.
    Worse,
    Better,
    /// Neither good nor bad, or measured on one side only.
    Changed,
    /// Worse by more than the allowed change, which can be chance.
    Unsure(Doubt),
}

/// Why a change is not certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doubt {
    /// Two measurements of the same program can differ as much.
    Chance,
    /// There are too few values on one side.
    TooFew,
    /// A single event or moment: the longest poll, the tasks that wait now.
    Single,
}

impl Compared {
    pub(super) fn of<R: Record>(
        before: &Saved,
        after: &Saved,
        columns: &[Column<R>],
        filter: &Filter<R>,
        allowed: Allowed,
    ) -> Self {
        let old = rows(&before.snapshot, filter);
        let new = rows(&after.snapshot, filter);
        let both = old.keys().filter(|key| new.contains_key(*key)).count();
        let chance = Chance::of(both * columns.len());
        let behind = [before, after].map(|file| evidence::behind(&file.snapshot));
        let mut changes = Vec::new();
        for column in columns {
            let mut evidence = Evidence::of(column, (before, after), behind, chance);
            if allowed.is_default && LEVELS.contains(&&*column.key) {
                evidence.kind = FigureKind::Level;
            }
            for (key, was) in &old {
                let Some(is) = new.get(key) else { continue };
                changes.extend(change(&evidence, name(key), was, is, allowed));
            }
        }
        sort(&mut changes);
        let missing = |there: &Keyed<'_, R>, here: &Keyed<'_, R>| -> Vec<String> {
            let missing = there.keys().filter(|key| !here.contains_key(*key));
            missing.map(name).collect()
        };
        Self {
            table: R::TABLE,
            changes,
            gone: missing(&old, &new),
            new: missing(&new, &old),
            are_whole: [before, after].map(is_whole::<R>),
            second: (after.name.clone(), after.snapshot.window_ns),
            both,
            elsewhere: Vec::new(),
            allowed,
            behind: behind[0].max(behind[1]),
        }
    }

    /// Adds rows of another table.
    pub(super) fn add(&mut self, changes: Vec<Change>) {
        self.changes.extend(changes);
        sort(&mut self.changes);
    }

    /// Whether a value is worse by more than the allowed change.
    pub(super) fn has_failed(&self) -> bool {
        self.changes
            .iter()
            .any(|change| change.verdict == Verdict::Fail)
    }

    /// Whether a value would have failed if chance could not explain it.
    pub(super) fn is_unsure(&self) -> bool {
        self.changes.iter().any(Change::is_unsure)
    }

    /// Number of rows that fail.
    pub(super) fn failed(&self) -> usize {
        self.rows(|change| change.verdict == Verdict::Fail)
    }

    /// Number of rows of which a column satisfies `which`.
    pub(super) fn rows(&self, which: impl Fn(&Change) -> bool) -> usize {
        let mut names: Vec<&str> = self
            .changes
            .iter()
            .filter(|change| which(change))
            .map(|change| change.row.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    }
}

impl Change {
    /// Whether the value would have failed if chance could not explain it.
    pub(super) fn is_unsure(&self) -> bool {
        matches!(
            self.verdict,
            Verdict::Unsure(Doubt::Chance) | Verdict::Unsure(Doubt::TooFew)
        )
    }

    /// After / before in billionths; `None` if either is missing or negative, `u64::MAX` if before
    /// is 0.
    pub(super) fn ratio(&self) -> Option<u64> {
        let whole = |side: &Side| u64::try_from(side.number?).ok();
        match (whole(&self.before)?, whole(&self.after)?) {
            (0, _) => Some(u64::MAX),
            (before, after) => Some(units::ppb(after, before)),
        }
    }
}

/// Rows by name, and by their index among rows of the same name.
type Keyed<'a, R> = BTreeMap<(String, usize), &'a R>;

/// `kv::db::get`, and `kv::db::get #2` for the next one of that name.
fn name((label, nth): &(String, usize)) -> String {
    match nth {
        0 => label.clone(),
        nth => format!("{label} #{}", nth + 1),
    }
}

fn rows<'a, R: Record>(snapshot: &'a Snapshot, filter: &Filter<R>) -> Keyed<'a, R> {
    let context = Context::of(snapshot);
    let mut kept: Vec<(String, u64, &R)> = R::page(snapshot)
        .rows
        .iter()
        .filter(|row| filter.keeps(row, &context))
        .map(|row| (row.label(), row.name().1, row))
        .collect();
    kept.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    let mut keyed = Keyed::new();
    let mut nth = 0;
    for (label, _, row) in kept {
        nth = if keyed.contains_key(&(label.clone(), 0)) {
            nth + 1
        } else {
            0
        };
        keyed.insert((label, nth), row);
    }
    keyed
}

/// Whether a file has all rows of a table.
fn is_whole<R: Record>(saved: &Saved) -> bool {
    let page = R::page(&saved.snapshot);
    page.total <= page.rows.len() as u64
}

/// One column of one row, if it has changed.
fn change<R: Record>(
    evidence: &Evidence<'_, R>,
    row: String,
    was: &R,
    is: &R,
    allowed: Allowed,
) -> Option<Change> {
    let column = evidence.column;
    let [before, after] = [(was, &evidence.before), (is, &evidence.after)].map(|(row, context)| {
        let value = column.value(row, context);
        Side {
            number: value.integer(),
            text: value.print(Style::default()),
            n: evidence.count(row, context),
        }
    });
    let growth = evidence.growth(was, is);
    let verdict = judge(column, evidence.kind, (&before, &after), growth, allowed)?;
    Some(Change {
        row,
        column: column.key.clone().into_owned(),
        title: column.title.clone().into_owned(),
        unit: column.unit,
        before,
        after,
        verdict,
        growth,
        field: column.fields.first().copied().unwrap_or_default(),
        includes_waits: column.includes_waits(),
    })
}

/// The verdict on a change; `None` if there is none that is significant, nor one that would fail if
/// it were.
fn judge<R>(
    column: &Column<R>,
    kind: FigureKind,
    (before, after): (&Side, &Side),
    growth: Growth,
    allowed: Allowed,
) -> Option<Verdict> {
    let (Some(old), Some(new)) = (before.number, after.number) else {
        return (before.number != after.number).then_some(Verdict::Changed);
    };
    let is_time = column.unit == Unit::Duration;
    let old_here = match is_time {
        true => allowed.machine.adjusted(old, new),
        false => old,
    };
    let growth = growth.over(old_here as f64 / old as f64);
    let old = old_here;
    let off = old.abs_diff(new);
    if kind == FigureKind::Level {
        return has_grown(old, new).then_some(Verdict::Changed);
    }
    let beyond = |share: Share| {
        // 2^64 billionths of a number up to 2^64 are at most 2^128.
        off * 1_000_000_000 > old.unsigned_abs().saturating_mul(u128::from(share.0))
    };
    let matters = !is_time || off >= u128::from(allowed.time_ns);
    let is_much = growth.at_least >= 1.0 + allowed.share.0 as f64 / 2e9;
    let fails = beyond(allowed.share) && matters;
    if !beyond(SAME) {
        // Not significant, unless the allowed change is smaller still.
        let worse = new > old && column.larger_is_worse() && growth.at_least >= 1.0;
        return (worse && fails && kind != FigureKind::Single).then_some(Verdict::Fail);
    }
    let doubt = match kind {
        FigureKind::Single => Some(Doubt::Single),
        // Values of two different buckets differ, also if the bounds of these touch.
        _ if new > old && growth.at_least >= 1.0 => None,
        _ if new < old && growth.at_most <= 1.0 => None,
        _ if growth.too_few => Some(Doubt::TooFew),
        _ => Some(Doubt::Chance),
    };
    Some(match (column.larger_is_worse(), doubt) {
        (false, _) => Verdict::Changed,
        (true, Some(doubt)) if fails && new > old => Verdict::Unsure(doubt),
        (true, Some(_)) => return None,
        (true, None) if new < old => Verdict::Better,
        (true, None) if fails && is_much => Verdict::Fail,
        (true, None) => Verdict::Worse,
    })
}

/// Changes without a ratio come last; columns of one row and ratio stay in order.
fn sort(changes: &mut [Change]) {
    changes.sort_by(|a: &Change, b: &Change| {
        let key = |change: &Change| (change.verdict, Reverse(change.ratio()));
        key(a).cmp(&key(b)).then_with(|| a.row.cmp(&b.row))
    });
}

/// Whether there are so many more tasks or waiters that something may pile up.
const fn has_grown(old: i128, new: i128) -> bool {
    const LEAST: i128 = 10;
    new - old >= LEAST && 2 * new >= 3 * old
}

#[cfg(test)]
mod tests {
    use super::{Allowed, Doubt, FigureKind, Growth, MachineGrowth, Share, Side, Verdict, judge};
    use turbowish_model::snapshot::ProcRow;
    use turbowish_model::snapshot::column;

    const ALLOWED: Allowed = Allowed {
        share: Share(100_000_000),
        time_ns: 0,
        machine: MachineGrowth::NONE,
        is_default: false,
    };

    fn judged(
        key: &str,
        kind: FigureKind,
        (old, new): (Option<i128>, Option<i128>),
        growth: Growth,
        allowed: Allowed,
    ) -> Option<Verdict> {
        let side = |number| Side {
            number,
            text: String::new(),
            n: None,
        };
        let column = column::find::<ProcRow>(key).expect(key);
        judge(&column, kind, (&side(old), &side(new)), growth, allowed)
    }

    /// Of a measurement that is exact.
    fn check(key: &str, old: Option<i128>, new: Option<i128>, expected: Option<Verdict>) {
        let number = |n: Option<i128>| n.unwrap_or_default() as f64;
        let growth = Growth::exact(number(old), number(new));
        let verdict = judged(key, FigureKind::Exact, (old, new), growth, ALLOWED);
        assert_eq!(verdict, expected, "{key} {old:?} {new:?}");
    }

    #[test]
    fn worse_is_more_of_what_costs() {
        check("hold_p99", Some(1_000), Some(1_000), None);
        check("hold_p99", Some(1_000), Some(1_020), None);
        check("hold_p99", Some(1_000), Some(1_021), Some(Verdict::Worse));
        check("hold_p99", Some(1_000), Some(1_100), Some(Verdict::Worse));
        check("hold_p99", Some(1_000), Some(1_101), Some(Verdict::Fail));
        check("hold_p99", Some(1_000), Some(900), Some(Verdict::Better));
        check("hold_p99", Some(0), Some(1), Some(Verdict::Fail));
        check("hold_p99", Some(0), Some(0), None);
        check("hold_p99", Some(1), Some(0), Some(Verdict::Better));
        check(
            "hold_p99",
            Some(u64::MAX.into()),
            Some(1),
            Some(Verdict::Better),
        );
        check(
            "hold_p99",
            Some(1),
            Some(u64::MAX.into()),
            Some(Verdict::Fail),
        );
    }

    #[test]
    fn more_traffic_is_neither_good_nor_bad() {
        check("calls", Some(1_000), Some(9_000), Some(Verdict::Changed));
        check("run", Some(1_000), Some(100), Some(Verdict::Changed));
        check("panicked", Some(0), Some(1), Some(Verdict::Fail));
    }

    #[test]
    fn tasks_that_pile_up_are_told() {
        let check = |old, new, expected| {
            let growth = Growth::UNKNOWN;
            let verdict = judged(
                "live",
                FigureKind::Level,
                (Some(old), Some(new)),
                growth,
                ALLOWED,
            );
            assert_eq!(verdict, expected, "{old} {new}");
        };
        check(2, 330, Some(Verdict::Changed));
        check(0, 10, Some(Verdict::Changed));
        check(0, 9, None);
        check(100, 149, None);
        check(100, 150, Some(Verdict::Changed));
        check(330, 2, None);
    }

    #[test]
    fn what_was_measured_once_only_is_told_and_does_not_fail() {
        check("hold_p99", None, None, None);
        check("hold_p99", None, Some(5), Some(Verdict::Changed));
        check("hold_p99", Some(5), None, Some(Verdict::Changed));
    }

    #[test]
    fn what_chance_explains_does_not_fail() {
        let growth = |at_least, at_most, too_few| Growth {
            at_least,
            at_most,
            too_few,
        };
        let unsure = |doubt| Some(Verdict::Unsure(doubt));
        let is = FigureKind::Percentile;
        for (kind, old, new, growth, expected) in [
            (
                is,
                1_000,
                9_000,
                growth(1.1, 9.0, false),
                Some(Verdict::Fail),
            ),
            (
                is,
                1_000,
                9_000,
                growth(0.999, 9.0, false),
                unsure(Doubt::Chance),
            ),
            (
                is,
                1_000,
                9_000,
                growth(0.0, 9.0, true),
                unsure(Doubt::TooFew),
            ),
            (
                is,
                1_000,
                1_090,
                growth(1.05, 1.1, false),
                Some(Verdict::Worse),
            ),
            (
                is,
                1_000,
                900,
                growth(0.8, 0.95, false),
                Some(Verdict::Better),
            ),
            (is, 1_000, 900, growth(0.8, 1.1, false), None),
            (is, 1_000, 1_010, growth(0.9, 1.1, false), None),
            // More failures per second, and fewer per call.
            (
                FigureKind::Failures,
                1_000,
                9_000,
                growth(0.5, 0.9, false),
                unsure(Doubt::Chance),
            ),
            // Half of what is allowed must be certain.
            (
                FigureKind::Percentile,
                1_000,
                3_300,
                growth(1.04, 4.0, false),
                Some(Verdict::Worse),
            ),
            (
                FigureKind::Percentile,
                1_000,
                1_101,
                growth(1.05, 1.2, false),
                Some(Verdict::Fail),
            ),
            (
                FigureKind::Single,
                1_000,
                9_000,
                Growth::UNKNOWN,
                unsure(Doubt::Single),
            ),
        ] {
            let verdict = judged("hold_p99", kind, (Some(old), Some(new)), growth, ALLOWED);
            assert_eq!(verdict, expected, "{kind:?} {old} {new} {growth:?}");
        }
    }

    #[test]
    fn what_the_machine_explains_does_not_fail() {
        let slower = |excused| Allowed {
            machine: MachineGrowth {
                all: excused,
                excused,
                functions: 9,
            },
            ..ALLOWED
        };
        let check = |key, excused, (old, new): (i128, i128), expected| {
            let growth = Growth::exact(old as f64, new as f64);
            let sides = (Some(old), Some(new));
            let verdict = judged(key, FigureKind::Percentile, sides, growth, slower(excused));
            assert_eq!(verdict, expected, "{key} {excused} {old} {new}");
        };
        check("run_p50", 1.2, (1_000, 1_200), None);
        check("run_p50", 1.2, (1_000, 1_320), Some(Verdict::Worse));
        check("run_p50", 1.2, (1_000, 1_321), Some(Verdict::Fail));
        // A slower machine excuses nothing that became shorter, and a faster one nothing that
        // became longer.
        check("run_p50", 1.2, (1_000, 900), Some(Verdict::Better));
        check("run_p50", 0.8, (1_000, 1_101), Some(Verdict::Fail));
        check("run_p50", 0.8, (1_000, 800), None);
        check("size", 1.2, (1_000, 1_200), Some(Verdict::Fail));
    }

    #[test]
    fn a_small_time_does_not_fail_however_large_its_share() {
        let growth = Growth::exact(40.0, 60.0);
        for (time_ns, expected) in [(20, Verdict::Fail), (21, Verdict::Worse)] {
            let allowed = Allowed { time_ns, ..ALLOWED };
            let sides = (Some(40), Some(60));
            let verdict = judged("run_p50", FigureKind::Percentile, sides, growth, allowed);
            assert_eq!(verdict, Some(expected), "{time_ns}");
            let size = judged("size", FigureKind::Exact, sides, growth, allowed);
            assert_eq!(size, Some(Verdict::Fail), "bytes are no time");
        }
    }
}
