//! A table of one kind of row. The selection follows the identity of a row, never its position.

mod arrange;
mod entries;
mod hidden;
mod table;

use turbowish_model::query::{self, Grouping};
use turbowish_model::snapshot::alert::{Alert, Severity};
use turbowish_model::snapshot::column::{Context, Row, Style, Unit, Value};
use turbowish_model::snapshot::json::Record;
use turbowish_model::snapshot::{Snapshot, Spot};

pub(crate) use self::table::{BACKGROUND_ROWS, OPEN_ROWS, Table};
use crate::detail::rich_line::Link;

/// The identity of a row across snapshots.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RowId {
    /// A proc by its path and location.
    Proc(String, String, u32),
    /// A task by its ID, which is never reused.
    Task(u64),
    /// A resource by its ID, which is never reused.
    Resource(u64),
    /// An await point by its proc and location.
    Await(String, String, u32, u32),
    /// An alert by its record.
    Alert(Link),
    /// A counter or gauge by its name and its proc.
    Counter(String, Option<String>),
    /// Rows with a common property.
    Group(String),
}

/// The sums of one group, whether its rows were sent or not.
#[derive(Clone, Debug)]
pub(crate) struct Sum<R> {
    /// The common property.
    pub(crate) key: String,
    /// Number of rows.
    pub(crate) count: u64,
    /// The rows merged into one.
    pub(crate) row: R,
}

/// Properties of a row that the console needs in addition to those of the model.
pub(crate) trait Entry: Row + Record + Clone {
    /// The column, by key, that is followed by a bar, and the bar's length in cells; twice that on
    /// a wide terminal.
    const BAR: Option<(&'static str, usize)>;

    /// The identity of the row across snapshots.
    fn id(&self) -> RowId;

    /// Whether the row has that identity; called for many rows, so nothing is copied.
    fn is(&self, id: &RowId) -> bool;

    /// The record that it opens.
    fn link(&self) -> Link;

    /// Whether there is such a record.
    fn has_record(&self) -> bool {
        true
    }

    /// The detail line of the row, shown when it is selected.
    fn detail(&self, style: Style) -> String;

    /// The groupings of rows, in order: a word, and the row's value.
    const GROUPINGS: &'static [Grouping<Self>];

    /// Groups as summed by the process, for groups of which not all rows were sent. The process
    /// computes them for the requested grouping only.
    fn sums(_: &mut Snapshot) -> Vec<Sum<Self>> {
        Vec::new()
    }

    /// Renames the row.
    fn call_it(&mut self, name: String);

    /// Whether it is marked with a warning.
    fn warns(&self) -> bool {
        false
    }

    /// Whether it is paused.
    fn is_paused(&self) -> bool {
        false
    }

    /// The row's own severity.
    fn severity(&self) -> Option<Severity> {
        None
    }

    /// The severity that it had while it was active, if it is over.
    fn past_severity(&self) -> Option<Severity> {
        None
    }

    /// Whether it describes something that is over.
    fn is_over(&self) -> bool {
        false
    }

    /// Remaining time of its mute in nanoseconds, if it is an alert.
    fn muted(&self, _: Muted<'_>) -> Option<u64> {
        None
    }

    /// The source location of the row.
    fn spot(&self) -> Option<Spot>;
}

/// Remaining time of an alert's mute, in nanoseconds.
pub(crate) type Muted<'a> = &'a dyn Fn(&Alert) -> Option<u64>;

/// The order of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// Key of the column, or the word for the table's own order.
    pub(crate) key: String,
    /// The column's natural direction is reversed.
    pub(crate) invert: bool,
}

/// The properties of a column that do not depend on the kind of row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Face {
    pub(crate) key: &'static str,
    pub(crate) title: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) unit: Unit,
    pub(crate) width: usize,
    pub(crate) rank: u8,
    /// Length of the bar after it, 0 if there is none.
    pub(crate) bar: usize,
    /// One column is reserved for `+`.
    pub(crate) grows: bool,
}

/// The reason why a displayed row is not part of the last snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// The row no longer exists.
    Ended,
    /// It was not sent, because there are too many rows or the filter excludes it. Whether it has
    /// ended is not known.
    Unsent,
}

impl Absent {
    /// The reason for a row that was not sent; `is_all` if all rows were sent.
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

/// Numbers of rows of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Lines of the table: available rows that match the filter and are not hidden, or their
    /// groups.
    pub(crate) held: usize,
    /// Available rows that match the filter.
    pub(crate) kept: usize,
    /// Rows hidden by the user.
    pub(crate) hidden: usize,
    /// Rows that exist in the process.
    pub(crate) total: u64,
    /// Rows of the process that match the filter.
    pub(crate) matched: u64,
}

/// A table of any kind of row.
pub(crate) trait AnyTable {
    fn faces(&self) -> Vec<Face>;
    /// The table's own order as an entry of the sort menu, if it is not that of a column.
    fn own_order(&self) -> Option<Face>;
    fn counts(&self) -> Counts;
    fn order(&self) -> &Order;
    /// The initial order.
    fn first_order(&self) -> Order;
    fn filter(&self) -> &str;
    fn columns_skipped(&self) -> usize;
    fn skip_columns(&mut self, skip: usize);
    /// The cell of a row in the column at that position among the faces.
    fn value(&self, row: usize, column: usize, context: &Context) -> Value<'_>;
    fn detail(&self, row: usize, style: Style) -> String;
    /// Whether the row is marked with a warning.
    fn warns(&self, row: usize) -> bool;
    /// Whether the row, or one of its group, is paused.
    fn is_paused(&self, row: usize) -> bool;
    /// Whether the row, or all of its group, is over.
    fn is_over(&self, row: usize) -> bool;
    /// The highest severity of the alerts that involve the row.
    fn severity(&self, row: usize) -> Option<Severity>;
    /// The identity of the row across snapshots.
    fn id(&self, row: usize) -> Option<RowId>;
    /// The record that a row opens.
    fn link(&self, row: usize) -> Option<Link>;
    /// Set if the row is not part of the last snapshot; it stays until the selection leaves it.
    fn absent(&self, row: usize) -> Option<Absent>;
    /// Position of the selected row, if there is any row.
    fn selected(&self) -> Option<usize>;
    /// First row on a screen that shows `height` rows.
    fn first_shown(&self, height: usize) -> usize;
    /// Selects another row on a screen that shows `height` rows.
    fn select(&mut self, row: usize, height: usize);
    /// Returns to the top, and follows the first row from then on.
    fn follow_first(&mut self);
    fn sort(&mut self, order: Order, context: &Context);
    fn set_filter(&mut self, filter: String, context: &Context);
    /// The part of a query that requests these rows; a table in the background requests fewer.
    fn rows_wanted(&self, open: bool) -> query::Rows;
    /// Reports an error in a filter.
    fn check_filter(&self, filter: &str) -> Result<(), String>;
    /// The chosen columns, by key and in order, without the first one; `None` if as many as fit are
    /// shown.
    fn picked(&self) -> Option<&[&'static str]>;
    fn pick(&mut self, keys: Option<Vec<&'static str>>);
    /// The current grouping.
    fn grouping(&self) -> Option<&'static str>;
    /// Selects the next grouping; after the last one, none.
    fn group_next(&mut self, context: &Context);
    /// Folds or unfolds a group; returns whether the row is a group and its state changed.
    fn fold(&mut self, row: usize, fold: bool, context: &Context) -> bool;
    /// Whether the row is a group, and is folded.
    fn is_folded(&self, row: usize) -> Option<bool>;
    /// Hides a row, or a group with all its future rows.
    fn hide(&mut self, row: usize, context: &Context);
    /// Shows hidden rows again; returns whether there were any.
    fn unhide(&mut self, context: &Context) -> bool;
    /// A row as JSON; for a group, those of its members.
    fn json(&self, row: usize, of: &Snapshot) -> String;
    /// Takes the rows out of a snapshot.
    /// If `steady`, rows keep their order, and new ones come last.
    fn take(&mut self, snapshot: &mut Snapshot, steady: bool);
    /// Marks the rows that these alerts involve; `muted` gives the remaining time of muted ones.
    fn mark(&mut self, alerts: &[Alert], muted: Muted<'_>, context: &Context);
    /// Remaining time of the row's mute in nanoseconds, if it is a muted alert.
    fn muted(&self, row: usize) -> Option<u64>;
    /// The source location of the row; `None` for a group.
    fn spot(&self, row: usize) -> Option<Spot>;
    /// Reports an unknown name of a sort column.
    fn check_sort(&self, key: &str) -> Result<(), String>;
    /// Removes the rows, and keeps filter and order.
    fn clear(&mut self);
}
