//! A table of one kind of row: the selection follows the identity of a row, never its position.

mod table;

use turbowish_model::column::{Context, Row, Style, Unit, Value};
use turbowish_model::query;
use turbowish_model::snapshot::{AwaitRow, ProcRow, Snapshot, TaskRow};

pub(crate) use self::table::Table;
use super::detail;

/// What makes a row the same row in the next snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowId {
    /// A proc by its path and place.
    Proc(String, String, u32),
    /// A task by its number, which is never used twice.
    Task(u64),
    /// An await point by its proc and place.
    Await(String, String, u32, u32),
}

/// What a table of the console needs beyond what the model says of a row.
pub(crate) trait Entry: Row + Clone {
    /// A bar follows the column with this key.
    const BAR: Option<&'static str>;

    /// What makes the row the same row in the next snapshot.
    fn id(&self) -> RowId;

    /// Whether it is the row of that identity; many rows are asked, so nothing is copied.
    fn is(&self, id: &RowId) -> bool;

    /// The line that says more about the row when it is selected.
    fn detail(&self, style: Style) -> String;
}

impl Entry for ProcRow {
    const BAR: Option<&'static str> = Some("run");

    fn id(&self) -> RowId {
        RowId::Proc(self.proc.clone(), self.file.clone(), self.line)
    }

    fn is(&self, id: &RowId) -> bool {
        matches!(id, RowId::Proc(proc, file, line)
            if *line == self.line && *proc == self.proc && *file == self.file)
    }

    fn detail(&self, _: Style) -> String {
        detail::proc(self)
    }
}

impl Entry for TaskRow {
    const BAR: Option<&'static str> = None;

    fn id(&self) -> RowId {
        RowId::Task(self.id)
    }

    fn is(&self, id: &RowId) -> bool {
        *id == RowId::Task(self.id)
    }

    fn detail(&self, style: Style) -> String {
        detail::task(self, style)
    }
}

impl Entry for AwaitRow {
    const BAR: Option<&'static str> = None;

    fn id(&self) -> RowId {
        RowId::Await(
            self.proc.clone(),
            self.place.file.clone(),
            self.place.line,
            self.place.column,
        )
    }

    fn is(&self, id: &RowId) -> bool {
        matches!(id, RowId::Await(proc, file, line, column)
            if (*line, *column) == (self.place.line, self.place.column)
                && *proc == self.proc
                && *file == self.place.file)
    }

    fn detail(&self, _: Style) -> String {
        detail::await_point(self)
    }
}

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
    pub(crate) bar: bool,
}

/// How many rows a table holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Rows at hand that match the filter.
    pub(crate) held: usize,
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
    fn filter(&self) -> &str;
    fn columns_skipped(&self) -> usize;
    fn skip_columns(&mut self, skip: usize);
    /// The cell of a row in the column with that position among the faces.
    fn value(&self, row: usize, column: usize, context: &Context) -> Value<'_>;
    fn detail(&self, row: usize, style: Style) -> String;
    /// The row ended, and stays until the selection leaves it.
    fn ended(&self, row: usize) -> bool;
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
    /// Takes the rows out of a snapshot.
    fn take(&mut self, snapshot: &mut Snapshot);
    /// Forgets the rows, and keeps filter and order.
    fn clear(&mut self);
}
