//! Visible rows and their order: filtered, without hidden rows, sorted, grouped.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use turbowish_model::snapshot::alert::Severity;
use turbowish_model::snapshot::column::{Column, Context, SortKey, find};
use turbowish_model::snapshot::{natural, units};

use super::{Entry, Order, Sum};
use crate::text;

/// A line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// A row, by its position in the page.
    Row(usize),
    /// A group, by its position among the groups.
    Group(usize),
}

/// Rows with a common property.
#[derive(Clone, Debug)]
pub(super) struct Group<R> {
    /// The common property.
    pub(super) key: String,
    /// The rows merged into one.
    pub(super) row: R,
    /// Number of rows, including those that were not sent.
    pub(super) count: u64,
    /// Positions in the page of the rows that were sent, in order.
    pub(super) members: Vec<usize>,
    /// The highest severity of the alerts that involve a member.
    pub(super) severity: Option<Severity>,
    /// Some members are hidden: the group covers only those that were sent and are not hidden.
    pub(super) partial: bool,
}

/// The sort key of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Rank {
    /// By the worst: severity, class, number.
    Worst(u8, u8, Reverse<u64>),
    /// By a column.
    Value(SortKey),
}

/// The order of a table, and the facts about rows that it needs.
pub(super) struct Arrangement<'a, R: 'static> {
    pub(super) rows: &'a [R],
    pub(super) severities: &'a [Option<Severity>],
    pub(super) order: &'a Order,
    pub(super) context: &'a Context,
}

impl<R: Entry> Arrangement<'_, R> {
    fn severity(&self, at: usize) -> Option<Severity> {
        self.severities.get(at).copied().flatten()
    }

    fn rank(&self, column: Option<&Column<R>>, row: &R, severity: Option<Severity>) -> Rank {
        match column {
            Some(column) => Rank::Value(column.value(row, self.context).sort_key()),
            None => {
                // Rows that are part of an alert come first.
                let (class, number) = row.worst();
                let severity = severity.or_else(|| row.past_severity());
                Rank::Worst(
                    severity.map_or(u8::MAX, |is| is as u8),
                    class,
                    Reverse(number),
                )
            }
        }
    }

    /// Each value is computed once, however many comparisons there are.
    pub(super) fn sort(&self, kept: Vec<usize>) -> Vec<usize> {
        let column = find::<R>(&self.order.key);
        let rank = |at: usize| self.rank(column.as_ref(), &self.rows[at], self.severity(at));
        let mut ranked: Vec<(Rank, usize)> = kept.into_iter().map(|at| (rank(at), at)).collect();
        let numbers = column.is_some_and(|column| column.unit.is_number());
        ranked.sort_by(|(a, at), (b, other)| {
            let by_value = self.compare(a, b, numbers);
            let ((one, number), (two, another)) = (self.rows[*at].name(), self.rows[*other].name());
            by_value.then_with(|| natural::compare(one, two).then(number.cmp(&another)))
        });
        ranked.into_iter().map(|(_, at)| at).collect()
    }

    /// Numbers descending, words ascending; rows without a value are last in either direction.
    fn compare(&self, a: &Rank, b: &Rank, numbers: bool) -> Ordering {
        let invert = self.order.invert;
        match (a, b) {
            (Rank::Value(SortKey::Missing), Rank::Value(SortKey::Missing)) => Ordering::Equal,
            (Rank::Value(SortKey::Missing), _) => Ordering::Greater,
            (_, Rank::Value(SortKey::Missing)) => Ordering::Less,
            (Rank::Value(a), Rank::Value(b)) if numbers != invert => b.cmp(a),
            (Rank::Value(a), Rank::Value(b)) => a.cmp(b),
            (Rank::Worst(a, b, c), Rank::Worst(x, y, z)) => {
                let order = (a, b, c).cmp(&(x, y, z));
                if invert { order.reverse() } else { order }
            }
            _ => Ordering::Equal,
        }
    }

    /// Groups of sorted rows, in the order of the table; `sums` include rows that were not sent.
    pub(super) fn group(
        &self,
        sorted: &[usize],
        key: fn(&R) -> String,
        sums: &[&Sum<R>],
    ) -> Vec<Group<R>> {
        let mut by_key: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for &at in sorted {
            by_key.entry(key(&self.rows[at])).or_default().push(at);
        }
        let column = find::<R>(&self.order.key);
        let mut groups: BTreeMap<String, Group<R>> = by_key
            .into_iter()
            .map(|(key, members)| (key.clone(), self.merged(key, members)))
            .collect();
        // Sums of another, earlier grouping have other keys.
        for sum in sums.iter().copied().filter(|sum| key(&sum.row) == sum.key) {
            self.whole(&mut groups, sum);
        }
        let groups = groups.into_values();
        let mut ranked: Vec<(Rank, Group<R>)> = groups
            .map(|group| {
                (
                    self.rank(column.as_ref(), &group.row, group.severity),
                    group,
                )
            })
            .collect();
        let numbers = column.is_some_and(|column| column.unit.is_number());
        ranked.sort_by(|(a, one), (b, other)| {
            let by_value = self.compare(a, b, numbers);
            by_value.then_with(|| natural::compare(&one.key, &other.key))
        });
        ranked.into_iter().map(|(_, group)| group).collect()
    }

    /// Uses the process's sums for a group.
    fn whole(&self, groups: &mut BTreeMap<String, Group<R>>, sum: &Sum<R>) {
        let group = groups.entry(sum.key.clone()).or_insert_with(|| Group {
            key: sum.key.clone(),
            count: 0,
            row: sum.row.clone(),
            members: Vec::new(),
            severity: None,
            partial: false,
        });
        if sum.count > group.count {
            group.count = sum.count;
            group.row = sum.row.clone();
            // The names of rows that were not sent are unknown.
            let end = sum.key.rsplit(['/', '\\']).next().unwrap_or_default();
            let called = end.rsplit("::").next().unwrap_or_default();
            group
                .row
                .call_it(format!("{}x {called}", units::count(sum.count)));
        }
    }

    fn merged(&self, key: String, members: Vec<usize>) -> Group<R> {
        let mut row = self.rows[members[0]].clone();
        for &at in &members[1..] {
            row.merge(&self.rows[at]);
        }
        if members.len() > 1 {
            let names = members.iter().map(|&at| self.rows[at].name().0);
            let stem = text::stem(names);
            let called = stem.map_or_else(|| key.clone(), |stem| format!("{stem}*"));
            row.call_it(format!("{}x {called}", members.len()));
        }
        Group {
            severity: members.iter().filter_map(|&at| self.severity(at)).min(),
            count: members.len() as u64,
            partial: false,
            key,
            row,
            members,
        }
    }
}
