//! Columns of tasks: what each one does, since when, and at which await.

use alloc::borrow::Cow;
use alloc::string::String;

use super::Unit::{Bytes, Count, Duration, Place, Text};
use super::{Column, Family, Row, Value};
use crate::assemble::UNSEEN;
use crate::snapshot::{Page, Place as AwaitPlace, Snapshot, StackRow, TaskRow, TaskState};
use crate::units::SECOND;

/// Too wide for a screen, where the record of a task shows the same.
const LISTS_ONLY: u8 = u8::MAX;

static COLUMNS: [Column<TaskRow>; 13] = [
    Column::new(
        "task",
        "TASK",
        "name, or root proc and ordinal",
        (Text, 14, 0),
        &["id", "name"],
        |row, _| Value::Text(Cow::Borrowed(&row.name)),
    ),
    Column::new(
        "state",
        "STATE",
        "polling, ready (woken, not polled yet) or waiting",
        (Text, 8, 0),
        &["state"],
        |row, _| Value::Text(Cow::Borrowed(row.state.word())),
    ),
    Column::new(
        "since",
        "SINCE",
        "time in that state; + while it polls",
        (Duration, 7, 0),
        &["since_ns"],
        |row, _| match row.state {
            TaskState::Polling => Value::Open(row.since_ns),
            TaskState::Ready | TaskState::Waiting => Value::Duration(row.since_ns),
        },
    ),
    Column::new(
        "at",
        "AT",
        "await point of the innermost call, file:line",
        (Place, 14, 0),
        &["stack"],
        |row, _| {
            place(row).map_or(Value::Unknown, |at| Value::Place {
                file: &at.file,
                line: at.line,
            })
        },
    ),
    Column::new(
        "expr",
        "EXPRESSION",
        "what is awaited there, without .await; after: it polls, and came last to this await",
        (Text, 24, 0),
        &["stack"],
        |row, _| match (row.state, place(row)) {
            (_, None) => Value::Unknown,
            (TaskState::Polling, Some(at)) => match expression(at) {
                Value::Text(text) => Value::Text(Cow::Owned(alloc::format!("after {text}"))),
                other => other,
            },
            (_, Some(at)) => expression(at),
        },
    ),
    Column::new(
        "running",
        "RUN",
        "running time of all its calls since it was created",
        (Duration, 6, 2),
        &["running_ns"],
        |row, _| Value::Duration(row.running_ns),
    ),
    Column::new(
        "polls",
        "POLLS",
        "root polls since it was created",
        (Count, 5, 3),
        &["polls"],
        |row, _| Value::Count(row.polls),
    ),
    Column::new(
        "longest",
        "LONGEST",
        "longest root poll; one in progress counts",
        (Duration, 7, 4),
        &["max_poll_ns"],
        |row, _| Value::Duration(row.max_poll_ns),
    ),
    Column::new(
        "root",
        "ROOT",
        "path of the root proc",
        (Text, 20, 1),
        &["root"],
        |row, _| Value::Text(Cow::Borrowed(&row.root)),
    ),
    Column::new(
        "age",
        "AGE",
        "time since it was created or first polled",
        (Duration, 6, 5),
        &["age_ns"],
        |row, _| Value::Duration(row.age_ns),
    ),
    Column::new(
        "size",
        "SIZE",
        "bytes of the root future",
        (Bytes, 6, 6),
        &["future_bytes"],
        |row, _| {
            if row.future_bytes == 0 {
                Value::Unknown
            } else {
                Value::Bytes(row.future_bytes)
            }
        },
    ),
    Column::new(
        "span",
        "AWAITS AT",
        "await point of the innermost call, file:line:first-last column",
        (Text, 24, LISTS_ONLY),
        &["stack"],
        |row, _| {
            place(row).map_or(Value::Unknown, |at| {
                Value::Text(Cow::Owned(crate::report::span(at)))
            })
        },
    ),
    Column::new(
        "chain",
        "CHAIN",
        "procs of its calls, outermost first; branches after /",
        (Text, 24, LISTS_ONLY),
        &["stack"],
        |row, _| Value::Text(Cow::Owned(chain(&row.stack))),
    ),
];

/// `kv::run > server::accept`: each proc without the module path that it shares with the one before.
fn chain(stack: &[StackRow]) -> String {
    let mut text = String::new();
    let mut last: Option<&StackRow> = None;
    for call in stack {
        let mut shown = &*call.proc;
        if let Some(last) = last {
            text.push_str(if call.depth > last.depth {
                " > "
            } else {
                " / "
            });
            shown = unshared(&last.proc, shown);
        }
        text.push_str(shown);
        last = Some(call);
    }
    text
}

fn unshared<'a>(before: &str, path: &'a str) -> &'a str {
    let same = before
        .bytes()
        .zip(path.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let word = path
        .get(..same)
        .and_then(|shared| shared.rfind("::"))
        .map_or(0, |at| at + 2);
    path.get(word..).unwrap_or(path)
}

/// The innermost call of the first branch: where the task stands.
#[must_use]
pub(crate) fn leaf(row: &TaskRow) -> Option<&StackRow> {
    let next = row.stack.iter().skip(1);
    let inner = row
        .stack
        .iter()
        .zip(next)
        .find(|(call, next)| next.depth <= call.depth);
    inner.map(|(call, _)| call).or(row.stack.last())
}

/// An await point's text; there is none where the awaits inside a macro could not be seen.
pub(super) fn expression(at: &AwaitPlace) -> Value<'_> {
    match &*at.expr {
        "" | UNSEEN => Value::Unknown,
        text => Value::Text(Cow::Borrowed(text)),
    }
}

fn place(row: &TaskRow) -> Option<&AwaitPlace> {
    leaf(row)?.place.as_ref()
}

impl Row for TaskRow {
    const TABLE: &'static str = "tasks";
    const OWN_ORDER: &'static str = "worst";

    fn columns() -> &'static [Column<Self>] {
        &COLUMNS
    }

    fn families() -> &'static [Family<Self>] {
        &[]
    }

    fn page(snapshot: &Snapshot) -> &Page<Self> {
        &snapshot.tasks
    }

    fn page_mut(snapshot: &mut Snapshot) -> &mut Page<Self> {
        &mut snapshot.tasks
    }

    fn name(&self) -> (&str, u64) {
        (&self.name, self.id)
    }

    fn worst(&self) -> (u8, u64) {
        let class = match self.state {
            TaskState::Polling if self.since_ns > SECOND => 0,
            TaskState::Ready if self.since_ns > SECOND => 1,
            _ => 2,
        };
        (class, self.since_ns)
    }

    fn search(&self, found: &mut dyn FnMut(&str) -> bool) -> bool {
        found(&self.name)
            || found(&self.root)
            || self.stack.iter().any(|call| {
                found(&call.proc)
                    || call.place.as_ref().is_some_and(|at| {
                        found(&at.expr) || found(&alloc::format!("{}:{}", at.file, at.line))
                    })
            })
    }
}
