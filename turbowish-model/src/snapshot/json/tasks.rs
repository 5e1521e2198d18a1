//! JSON fields of a task.

use super::fields::{Field, FieldValue, Record};
use crate::snapshot::TaskRow;

static TASKS: [Field<TaskRow>; 24] = [
    Field::new("id", "unique within the process, never used twice", |row| {
        FieldValue::Number(row.id)
    }),
    Field::new("name", "given name, or root proc and ordinal", |row| {
        FieldValue::Text(&row.name)
    }),
    Field::new("state", "polling, ready or waiting", |row| {
        FieldValue::Text(row.state.word())
    }),
    Field::new("since_ns", "time in that state", |row| {
        FieldValue::Number(row.since_ns)
    }),
    Field::new(
        "age_ns",
        "time since it was created or first polled",
        |row| FieldValue::Number(row.age_ns),
    ),
    Field::new("polls", "root polls begun", |row| {
        FieldValue::Number(row.polls)
    }),
    Field::new(
        "running_ns",
        "running time of all its calls since it was created",
        |row| FieldValue::Number(row.running_ns),
    ),
    Field::new(
        "max_poll_ns",
        "longest root poll, one in progress included",
        |row| FieldValue::Number(row.max_poll_ns),
    ),
    Field::new("root", "path of the root proc", |row| {
        FieldValue::Text(&row.root)
    }),
    Field::new("future_bytes", "size of the root future", |row| {
        FieldValue::Number(row.future_bytes)
    }),
    Field::new("stack", "its calls, outermost first", |row| {
        FieldValue::Stack(row)
    }),
    Field::new(
        "stack_truncated",
        "whether the chain is longer than what is kept of it",
        |row| FieldValue::Flag(row.stack_truncated),
    ),
    Field::new(
        "waker",
        "what is known of its waker: woken_by, wakes, own_wakes, clones, live",
        |row| FieldValue::Waker(row.waker.as_ref()),
    ),
    Field::new(
        "pause",
        "who keeps it from being polled: by, left_ns, woken, address",
        |row| FieldValue::Pause(row.pause.as_ref()),
    ),
    Field::new(
        "last_poll",
        "its last poll: ago_ns, took_ns, thread, worker, ready_ns, ready_by",
        |row| FieldValue::LastPoll(row.last_poll.as_ref()),
    ),
    Field::new(
        "os_thread_id",
        "id of the operating system's thread that polls it now",
        |row| FieldValue::Optional(row.os_thread_id),
    ),
    Field::new(
        "waits_on",
        "resources that it waits for, by the order of its branches",
        |row| FieldValue::Claims(&row.waits_on),
    ),
    Field::new(
        "waits_unknown",
        "whether it waits and it is not known whether for a resource",
        |row| FieldValue::Flag(row.waits_unknown),
    ),
    Field::new("holds", "resources that it holds", |row| {
        FieldValue::Claims(&row.holds)
    }),
    Field::new("will", "what its calls will do with resources", |row| {
        FieldValue::Aims(&row.will)
    }),
    Field::new("may", "what its calls may do with resources", |row| {
        FieldValue::Aims(&row.may)
    }),
    Field::new("parent", "name of the task that spawned it", |row| {
        FieldValue::OptionalText(row.parent.as_deref())
    }),
    Field::new(
        "spawned_at",
        "where it was spawned: file, line, column",
        |row| FieldValue::Spot(row.spawned_at.as_ref()),
    ),
    Field::new("attributes", "attributes given to it, by name", |row| {
        FieldValue::Attributes(&row.attributes)
    }),
];

impl Record for TaskRow {
    fn fields() -> &'static [Field<Self>] {
        &TASKS
    }
}
