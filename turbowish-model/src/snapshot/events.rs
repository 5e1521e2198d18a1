//! The table of events of tasks, its row and its columns: what happened to each task, and when.

use alloc::borrow::Cow;
use alloc::string::String;

use super::alert::PartyKind;
use super::column::Unit::{Duration, Text};
use super::column::{Column, Family, Row, Value};
use super::row::row;

row! {
    $ event_row

    /// One event of a task.
    EventRow {
        /// Time since the event.
        ago_ns: u64 [min];
        /// Name of the task.
        task: String [first];
        /// What happened, in a word.
        event: String [first];
    }
}

static COLUMNS: [Column<EventRow>; 3] = [
    Column::new(
        "ago",
        "AGO",
        "time since the event",
        (Duration, 6, 0),
        &["ago_ns"],
        |row, _| Value::Duration(row.ago_ns),
    ),
    Column::new(
        "task",
        "TASK",
        "name of the task",
        (Text, 12, 0),
        &["task"],
        |row, _| Value::Text(Cow::Borrowed(&row.task)),
    ),
    Column::new(
        "event",
        "EVENT",
        "what happened",
        (Text, 20, 0),
        &["event"],
        |row, _| Value::Text(Cow::Borrowed(&row.event)),
    ),
];

impl Row for EventRow {
    const OWN_ORDER: &'static str = "ago";
    const PRINTED: &'static [&'static str] = &["ago", "task", "event"];
    const NEEDED: &'static [&'static str] = &["task", "event"];
    const PLACE: &'static str = "event";

    fn columns() -> &'static [Column<Self>] {
        &COLUMNS
    }

    fn families() -> &'static [Family<Self>] {
        &[]
    }

    fn label(&self) -> String {
        self.task.clone()
    }

    fn name(&self) -> (&str, u64) {
        (&self.task, self.ago_ns)
    }

    fn worst(&self) -> (u8, u64) {
        (0, u64::MAX - self.ago_ns)
    }

    fn party(&self) -> Option<(PartyKind, u64, &str)> {
        None
    }

    fn search(&self, found: &mut dyn FnMut(&str) -> bool) -> bool {
        found(&self.task) || found(&self.event)
    }
}
