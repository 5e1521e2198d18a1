//! Differences between two tables. Rows are matched by name.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use turbowish_model::query::Filter;
use turbowish_model::snapshot::Snapshot;
use turbowish_model::snapshot::column::{Column, Context, Style, Unit};
use turbowish_model::snapshot::json::Record;
use turbowish_model::snapshot::units;

use crate::args::Share;
use crate::report_file::Saved;

/// Relative changes below this count as no change; in billionths.
pub(super) const SAME: Share = Share(20_000_000);

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
    /// Number of rows in both files.
    pub(super) both: usize,
    /// A change for the worse fails if it exceeds this.
    pub(super) fail_over: Share,
}

/// One column of one row that has changed.
#[derive(Debug)]
pub(super) struct Change {
    /// The name of the row.
    pub(super) row: String,
    /// The column's key.
    pub(super) column: String,
    /// The unit of the column's values.
    pub(super) unit: Unit,
    /// The values before and after.
    pub(super) before: Side,
    pub(super) after: Side,
    /// The verdict on the change.
    pub(super) verdict: Verdict,
}

/// A value in one of the files.
#[derive(Debug)]
pub(super) struct Side {
    /// In the column's unit; `None` if not measured, or not known.
    pub(super) number: Option<i128>,
    /// The value as text for people.
    pub(super) text: String,
}

/// The verdict on a change, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// Worse by more than the allowed change.
    Fail,
    /// Worse, within the allowed change.
    Worse,
    Better,
    /// Neither good nor bad, or measured on one side only.
    Changed,
}

impl Compared {
    pub(super) fn of<R: Record>(
        before: &Saved,
        after: &Saved,
        columns: &[Column<R>],
        filter: &Filter<R>,
        fail_over: Share,
    ) -> Self {
        let old = rows(&before.snapshot, filter);
        let new = rows(&after.snapshot, filter);
        let contexts = (Context::of(&before.snapshot), Context::of(&after.snapshot));
        let mut changes = Vec::new();
        for (key, was) in &old {
            let Some(is) = new.get(key) else { continue };
            for column in columns {
                let before = side(column, was, &contexts.0);
                let after = side(column, is, &contexts.1);
                if let Some(verdict) = judge(column, &before, &after, fail_over) {
                    changes.push(Change {
                        row: name(key),
                        column: column.key.clone().into_owned(),
                        unit: column.unit,
                        before,
                        after,
                        verdict,
                    });
                }
            }
        }
        // Changes without a ratio come last; rows and columns of one ratio stay in order.
        changes.sort_by_key(|change| (change.verdict, Reverse(change.ratio())));
        let missing = |there: &Keyed<'_, R>, here: &Keyed<'_, R>| -> Vec<String> {
            let missing = there.keys().filter(|key| !here.contains_key(*key));
            missing.map(name).collect()
        };
        Self {
            table: R::TABLE,
            changes,
            gone: missing(&old, &new),
            new: missing(&new, &old),
            both: old.keys().filter(|key| new.contains_key(*key)).count(),
            fail_over,
        }
    }

    /// Whether a value is worse by more than the allowed change.
    pub(super) fn has_failed(&self) -> bool {
        self.changes
            .iter()
            .any(|change| change.verdict == Verdict::Fail)
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

fn side<R: Record>(column: &Column<R>, row: &R, context: &Context) -> Side {
    let value = column.value(row, context);
    Side {
        number: value.integer(),
        text: value.print(Style::default()),
    }
}

/// The verdict on a change; `None` if there is no significant change.
fn judge<R>(column: &Column<R>, before: &Side, after: &Side, allowed: Share) -> Option<Verdict> {
    let (Some(old), Some(new)) = (before.number, after.number) else {
        return (before.number != after.number).then_some(Verdict::Changed);
    };
    let beyond = |share: Share| {
        // 2^64 billionths of a number up to 2^64 are at most 2^128.
        let off = old.abs_diff(new) * 1_000_000_000;
        off > old.unsigned_abs().saturating_mul(u128::from(share.0))
    };
    if !beyond(SAME) {
        // Not significant, unless the allowed change is smaller still.
        return (new > old && column.larger_is_worse() && beyond(allowed)).then_some(Verdict::Fail);
    }
    Some(match (column.larger_is_worse(), new > old) {
        (false, _) => Verdict::Changed,
        (true, false) => Verdict::Better,
        (true, true) if beyond(allowed) => Verdict::Fail,
        (true, true) => Verdict::Worse,
    })
}

#[cfg(test)]
mod tests {
    use super::{Share, Side, Verdict, judge};
    use turbowish_model::snapshot::ProcRow;
    use turbowish_model::snapshot::column;

    fn check(key: &str, old: Option<i128>, new: Option<i128>, expected: Option<Verdict>) {
        let side = |number| Side {
            number,
            text: String::new(),
        };
        let column = column::find::<ProcRow>(key).expect(key);
        let ten_percent = Share(100_000_000);
        let verdict = judge(&column, &side(old), &side(new), ten_percent);
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
    fn what_was_measured_once_only_is_told_and_does_not_fail() {
        check("hold_p99", None, None, None);
        check("hold_p99", None, Some(5), Some(Verdict::Changed));
        check("hold_p99", Some(5), None, Some(Verdict::Changed));
    }
}
