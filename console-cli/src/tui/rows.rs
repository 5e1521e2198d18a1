//! A table of one kind of row. The selection follows the identity of a row, never its position.

mod arrange;
mod entries;
mod hidden;
mod merge;
mod table;

use turbowish_model::query::{self, Grouping};
use turbowish_model::snapshot::alert::{Alert, Severity};
use turbowish_model::snapshot::column::{Context, Row, Style, Unit, Value};
use turbowish_model::snapshot::json::{Record, Table as Document};
use turbowish_model::snapshot::{Snapshot, Spot};

pub(crate) use self::table::{BACKGROUND_ROWS, OPEN_ROWS, Table};
use crate::detail::rich_line::Link;

/// The identity of a row across snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowId {
    /// A proc by its path and place.
    Proc(String, String, u32),
    /// A task by its number, which is never used twice.
    Task(u64),
    /// A resource by its number, which is never used twice.
    Resource(u64),
    /// An await point by its proc and place.
    Await(String, String, u32, u32),
    /// An alert by its record.
    Alert(Link),
    /// Rows that have something in common.
    Group(String),
}

/// Rows of one group, whether they were sent or not.
#[derive(Clone, Debug)]
pub(crate) struct Sum<R> {
    /// What they have in common.
    pub(crate) key: String,
    /// How many they are.
    pub(crate) count: u64,
    /// All of them as one.
    pub(crate) row: R,
}

/// What a table of the console needs beyond what the model says of a row.
pub(crate) trait Entry: Row + Record + Clone {
    /// Its table in JSON.
    const DOCUMENT: Document;

    /// A bar follows the column with this key, so many cells long; twice that on a wide terminal.
    const BAR: Option<(&'static str, usize)>;

    /// What makes the row the same row in the next snapshot.
    fn id(&self) -> RowId;

    /// Whether it is the row of that identity; many rows are asked, so nothing is copied.
    fn is(&self, id: &RowId) -> bool;

    /// The record that it opens.
    fn link(&self) -> Link;

    /// The line that says more about the row when it is selected.
    fn detail(&self, style: Style) -> String;

    /// By what rows are grouped, one after the other: a word, and what a row has there.
    const GROUPINGS: &'static [Grouping<Self>];

    /// Groups of rows of which not all were sent, as the process has added them up; it does so for the grouping that it is asked for.
    fn sums(_: &mut Snapshot) -> Vec<Sum<Self>> {
        Vec::new()
    }

    /// Takes another row of its group in: sums add up, ages are the largest, populations are one.
    fn absorb(&mut self, other: &Self);

    /// Calls it by another name.
    fn call_it(&mut self, name: String);

    /// Whether it is marked with a warning.
    fn warns(&self) -> bool {
        false
    }

    /// Whether it is kept from being polled.
    fn is_paused(&self) -> bool {
        false
    }

    /// How bad it is by itself.
    fn severity(&self) -> Option<Severity> {
        None
    }

    /// How much longer it is muted, if it is an alert.
    fn muted(&self, _: Muted<'_>) -> Option<u64> {
        None
    }

    /// Where it stands in the source.
    fn spot(&self) -> Option<Spot>;
}

/// How much longer an alert is muted, in nanoseconds.
pub(crate) type Muted<'a> = &'a dyn Fn(&Alert) -> Option<u64>;

/// The order of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// Key of the column, or the word for the table's own order.
    pub(crate) key: String,
    /// The column's natural direction is turned round.
    pub(crate) invert: bool,
}

/// The face of a column, without the kind of row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Face {
    pub(crate) key: &'static str,
    pub(crate) title: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) unit: Unit,
    pub(crate) width: usize,
    pub(crate) rank: u8,
    /// Length of the bar behind it, 0 if there is none.
    pub(crate) bar: usize,
    /// A column for `+` is kept free.
    pub(crate) grows: bool,
}

/// Why a row that one looks at is not part of the last snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// There is no such row any more.
    Ended,
    /// It was not sent: there are more rows than that, or the filter does not keep it. Whether it has ended is not known.
    Unsent,
}

impl Absent {
    /// Of a row that is not among those that were sent, which are all or not.
    pub(crate) const fn from_all(is_all: bool) -> Self {
        if is_all { Self::Ended } else { Self::Unsent }
    }

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Unsent => "not sent",
        }
    }
}

/// How many rows a table holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Lines of the table: rows at hand that match the filter and are not hidden, or their groups.
    pub(crate) held: usize,
    /// Rows at hand that match the filter.
    pub(crate) kept: usize,
    /// Rows that one has hidden.
    pub(crate) hidden: usize,
    /// Rows that exist in the process.
    pub(crate) total: u64,
    /// Rows of the process that match the filter.
    pub(crate) matched: u64,
}

/// A table, whatever its rows are.
pub(crate) trait Rows {
    fn faces(&self) -> Vec<Face>;
    /// The table's own order as an entry of the sort menu, where it is not that of a column.
    fn own_order(&self) -> Option<Face>;
    fn counts(&self) -> Counts;
    fn order(&self) -> &Order;
    /// The order as it is at first.
    fn first_order(&self) -> Order;
    fn filter(&self) -> &str;
    fn columns_skipped(&self) -> usize;
    fn skip_columns(&mut self, skip: usize);
    /// The cell of a row in the column with that position among the faces.
    fn value(&self, row: usize, column: usize, context: &Context) -> Value<'_>;
    fn detail(&self, row: usize, style: Style) -> String;
    /// Whether the row is marked with a warning.
    fn warns(&self, row: usize) -> bool;
    /// Whether the row, or one of its group, is kept from being polled.
    fn is_paused(&self, row: usize) -> bool;
    /// The worst of the alerts that it is part of.
    fn severity(&self, row: usize) -> Option<Severity>;
    /// What makes the row the same row in the next snapshot.
    fn id(&self, row: usize) -> Option<RowId>;
    /// The record that a row opens.
    fn link(&self, row: usize) -> Option<Link>;
    /// The row is not part of the last snapshot, and stays until the selection leaves it.
    fn absent(&self, row: usize) -> Option<Absent>;
    /// Position of the selected row, if there is any row.
    fn selected(&self) -> Option<usize>;
    /// First row on a screen that shows `height` rows.
    fn first_shown(&self, height: usize) -> usize;
    /// Selects another row on a screen that shows `height` rows.
    fn select(&mut self, row: usize, height: usize);
    /// Back to the top, and to following whatever row is first.
    fn follow_first(&mut self);
    fn sort(&mut self, order: Order, context: &Context);
    fn set_filter(&mut self, filter: String, context: &Context);
    /// The part of a query that asks for these rows; a table in the background asks for fewer.
    fn rows_wanted(&self, open: bool) -> query::Rows;
    /// Says what is wrong with a filter.
    fn check_filter(&self, filter: &str) -> Result<(), String>;
    /// The columns that were chosen, by key and in order, after the first one; `None` is as many as fit.
    fn picked(&self) -> Option<&[&'static str]>;
    fn pick(&mut self, keys: Option<Vec<&'static str>>);
    /// By what rows are grouped now.
    fn grouping(&self) -> Option<&'static str>;
    /// Groups by the next thing, after the last one not at all.
    fn group_next(&mut self, context: &Context);
    /// Folds or unfolds a group; gives whether the row is one, and was not so.
    fn fold(&mut self, row: usize, fold: bool, context: &Context) -> bool;
    /// Whether the row is a group, and is folded.
    fn is_folded(&self, row: usize) -> Option<bool>;
    /// Hides a row, or a group with whatever comes into it.
    fn hide(&mut self, row: usize, context: &Context);
    /// Shows again what was hidden; gives whether anything was.
    fn unhide(&mut self, context: &Context) -> bool;
    /// A row as JSON has it; of a group those of its members.
    fn json(&self, row: usize, of: &Snapshot) -> String;
    /// Takes the rows out of a snapshot.
    fn take(&mut self, snapshot: &mut Snapshot);
    /// Marks the rows by these alerts, of which some are muted for so long.
    fn mark(&mut self, alerts: &[Alert], muted: Muted<'_>, context: &Context);
    /// How much longer the row is muted, if it is an alert that is.
    fn muted(&self, row: usize) -> Option<u64>;
    /// Where the row stands in the source; a group nowhere.
    fn spot(&self, row: usize) -> Option<Spot>;
    /// Says what is wrong with the name of a column to sort by.
    fn check_sort(&self, key: &str) -> Result<(), String>;
    /// Forgets the rows, and keeps filter and order.
    fn clear(&mut self);
}
