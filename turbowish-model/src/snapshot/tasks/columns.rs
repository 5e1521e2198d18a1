//! Columns of tasks: what each one does, since when, and at which await point.

use alloc::borrow::Cow;
use alloc::string::String;

use crate::snapshot::UNSEEN;
use crate::snapshot::alert::PartyKind;
use crate::snapshot::column::Unit::{Bytes, Count, Duration, Place, Text};
use crate::snapshot::column::{Column, Heading, Row, Value, attribute, given};
use crate::snapshot::units::SECOND;
use crate::snapshot::{Claim, Place as AwaitPlace, StackRow, TaskRow, TaskState};

/// Text for a wait for something that is no instrumented resource.
const NOT_OURS: &str = "external";

static COLUMNS: [Column<TaskRow>; 19] = [
    Heading::new("task", "TASK", Text)
        .width(12)
        .rank(0)
        .meaning("name, or root proc and ordinal")
        .fields(&["id", "name"])
        .read(|row, _| Value::Text(Cow::Borrowed(&row.name))),
    Heading::new("state", "STATE", Text)
        .width(8)
        .rank(0)
        .meaning("polling, ready (woken, not polled yet), waiting or paused")
        .fields(&["state"])
        .read(|row, _| Value::Text(Cow::Borrowed(row.state.word()))),
    Heading::new("since", "SINCE", Duration)
        .width(7)
        .rank(0)
        .meaning("time in that state; + while it is polled")
        .fields(&["since_ns"])
        .read(|row, _| match row.state {
            TaskState::Polling => Value::Open(row.since_ns),
            TaskState::Ready | TaskState::Waiting | TaskState::Paused => {
                Value::Duration(row.since_ns)
            }
        }),
    Heading::new("on", "ON", Text)
        .width(11)
        .rank(0)
        .meaning(
            "resources that it waits for, in branch order; \
             external: none that TurboWish sees; ?: unknown",
        )
        .fields(&["waits_on", "waits_unknown"])
        .read(|row, _| on(row)),
    Heading::new("at", "AT", Place)
        .width(14)
        .rank(0)
        .meaning("await point of the innermost call, file:line")
        .fields(&["stack"])
        .read(|row, _| {
            place(row).map_or(Value::Unknown, |at| Value::Place {
                file: &at.file,
                line: at.line,
            })
        }),
    Heading::new("expr", "EXPRESSION", Text)
        .width(20)
        .rank(0)
        .meaning(
            "awaited expression, without .await; after X: \
             the task is being polled, and its last await was X",
        )
        .fields(&["stack"])
        .read(|row, _| match (row.state, place(row)) {
            (_, None) => Value::Unknown,
            (TaskState::Polling, Some(at)) => match expression(at) {
                Value::Text(text) => Value::Text(Cow::Owned(alloc::format!("after {text}"))),
                other => other,
            },
            (_, Some(at)) => expression(at),
        }),
    Heading::new("wakes", "WAKES", Count)
        .width(5)
        .rank(1)
        .meaning("times that it was woken since it was created")
        .fields(&["waker"])
        .read(|row, _| {
            let waker = row.waker.as_ref();
            waker.map_or(Value::Unknown, |waker| Value::Count(waker.wakes))
        }),
    Heading::new("running", "RUN", Duration)
        .width(6)
        .rank(2)
        .meaning("running time of all its calls since it was created")
        .fields(&["running_ns"])
        .read(|row, _| Value::Duration(row.running_ns)),
    Heading::new("polls", "POLLS", Count)
        .width(5)
        .rank(3)
        .meaning("root polls since it was created")
        .fields(&["polls"])
        .read(|row, _| Value::Count(row.polls)),
    Heading::new("longest", "LONGEST", Duration)
        .width(7)
        .rank(4)
        .meaning("longest root poll; one in progress counts")
        .fields(&["max_poll_ns"])
        .read(|row, _| Value::Duration(row.max_poll_ns)),
    Heading::new("woken_by", "WOKEN BY", Text)
        .width(12)
        .rank(5)
        .meaning(
            "task that last woke it, or self; thread w1, or thread NAME: \
             a thread that runs tasks, outside any task; ?: another thread",
        )
        .fields(&["waker", "name"])
        .read(|row, _| woken_by(row)),
    Heading::new("holds", "HOLDS", Text)
        .width(12)
        .rank(6)
        .meaning("resources that it holds")
        .fields(&["holds"])
        .read(|row, _| resources(&row.holds)),
    Heading::new("root", "ROOT", Text)
        .width(20)
        .rank(7)
        .meaning("path of the root proc")
        .fields(&["root"])
        .read(|row, _| Value::Text(Cow::Borrowed(&row.root))),
    Heading::new("parent", "PARENT", Text)
        .width(12)
        .rank(8)
        .meaning("task that spawned it")
        .fields(&["parent"])
        .read(|row, _| {
            let parent = row.parent.as_deref();
            parent.map_or(Value::Unknown, |name| Value::Text(Cow::Borrowed(name)))
        }),
    Heading::new("site", "SPAWNED AT", Place)
        .width(14)
        .rank(9)
        .meaning("where it was spawned, file:line")
        .fields(&["spawned_at"])
        .read(|row, _| {
            let spot = row.spawned_at.as_ref();
            spot.map_or(Value::Unknown, |spot| Value::Place {
                file: &spot.file,
                line: spot.line,
            })
        }),
    Heading::new("age", "AGE", Duration)
        .width(6)
        .rank(10)
        .meaning("time since it was created or first polled")
        .fields(&["age_ns"])
        .read(|row, _| Value::Duration(row.age_ns)),
    Heading::new("size", "SIZE", Bytes)
        .width(6)
        .rank(11)
        .meaning("bytes of the root future")
        .fields(&["future_bytes"])
        .read(|row, _| {
            if row.future_bytes == 0 {
                Value::Unknown
            } else {
                Value::Bytes(row.future_bytes)
            }
        }),
    Heading::new("span", "AWAITS AT", Text)
        .width(24)
        .meaning("await point of the innermost call, file:line:first-last column")
        .fields(&["stack"])
        .read(|row, _| {
            place(row).map_or(Value::Unknown, |at| {
                Value::Text(Cow::Owned(crate::snapshot::report::span(at)))
            })
        }),
    Heading::new("chain", "CHAIN", Text)
        .width(24)
        .meaning("procs of its calls, outermost first; / begins a branch")
        .fields(&["stack"])
        .read(|row, _| Value::Text(Cow::Owned(chain(&row.stack)))),
];

/// Fields that the table's own order reads, in addition to numbers and the state.
pub(crate) const JUDGED: [&str; 1] = ["waits_on"];
/// Fields searched by a bare word of a filter.
pub(crate) const SEARCHED: [&str; 6] = ["name", "root", "waits_on", "holds", "attributes", "stack"];

/// The resources that the task waits for; other waits are external.
fn on(row: &TaskRow) -> Value<'_> {
    match row.state {
        TaskState::Waiting if row.waits_on.is_empty() && row.waits_unknown => Value::Unknown,
        TaskState::Waiting if row.waits_on.is_empty() => Value::Text(Cow::Borrowed(NOT_OURS)),
        _ => resources(&row.waits_on),
    }
}

fn resources(claims: &[Claim]) -> Value<'_> {
    Value::names(claims.iter().map(|claim| Cow::Borrowed(&*claim.resource)))
}

fn woken_by(row: &TaskRow) -> Value<'_> {
    let Some(waker) = &row.waker else {
        return Value::Unknown;
    };
    match waker.woken_by.as_deref() {
        _ if waker.wakes == 0 => Value::NoSample,
        None => Value::Unknown,
        Some(name) if name == row.name => Value::Text(Cow::Borrowed("self")),
        Some(name) => Value::Text(Cow::Borrowed(name)),
    }
}

/// `kv::run > server::accept`: each proc without the module path that it shares with the previous
/// one.
fn chain(stack: &[StackRow]) -> String {
    let mut text = String::new();
    let mut last: Option<&StackRow> = None;
    for call in stack.iter().filter(|call| !call.aside) {
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

/// The innermost call of the first branch: the task's await point.
#[must_use]
pub(crate) fn leaf(stack: &[StackRow]) -> Option<&StackRow> {
    let mut pairs = stack.iter().zip(stack.iter().skip(1));
    let inner = pairs.find(|(call, next)| next.depth <= call.depth);
    inner.map(|(call, _)| call).or(stack.last())
}

/// Text of an await point; unknown inside a macro whose awaits could not be seen.
pub(in crate::snapshot) fn expression(at: &AwaitPlace) -> Value<'_> {
    match &*at.expr {
        "" | UNSEEN => Value::Unknown,
        text => Value::Text(Cow::Borrowed(text)),
    }
}

fn place(row: &TaskRow) -> Option<&AwaitPlace> {
    leaf(&row.stack)?.place.as_ref()
}

impl Row for TaskRow {
    const OWN_ORDER: &'static str = "worst";
    const PRINTED: &'static [&'static str] =
        &["task", "state", "since", "on", "span", "expr", "chain"];
    const NEEDED: &'static [&'static str] = &["name", "state"];
    const PLACE: &'static str = "at";

    fn columns() -> &'static [Column<Self>] {
        &COLUMNS
    }

    fn named(key: &str) -> Option<Column<Self>> {
        attribute(key, |row, name| given(&row.attributes, name))
    }

    fn label(&self) -> String {
        self.name.clone()
    }

    fn name(&self) -> (&str, u64) {
        (&self.name, self.id)
    }

    fn worst(&self) -> (u8, u64) {
        let held_up = || self.waits_on.iter().any(|claim| claim.role.holds_up());
        let class = match self.state {
            TaskState::Paused => 0,
            TaskState::Polling if self.since_ns > SECOND => 1,
            TaskState::Ready if self.since_ns > SECOND => 2,
            TaskState::Waiting if held_up() => 3,
            _ => 4,
        };
        (class, self.since_ns)
    }

    fn party(&self) -> Option<(PartyKind, u64, &str)> {
        Some((PartyKind::Task, self.id, ""))
    }

    fn search(&self, found: &mut dyn FnMut(&str) -> bool) -> bool {
        found(&self.name)
            || found(&self.root)
            || self
                .waits_on
                .iter()
                .chain(&self.holds)
                .any(|claim| found(&claim.resource))
            || self.attributes.iter().any(|(_, value)| found(value))
            || self.stack.iter().any(|call| {
                found(&call.proc)
                    || call.place.as_ref().is_some_and(|at| {
                        found(&at.expr) || found(&alloc::format!("{}:{}", at.file, at.line))
                    })
            })
    }
}
