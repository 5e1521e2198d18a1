//! The fields of a resource.

use super::fields::{Fact, Field, Record};
use crate::snapshot::ResourceRow;
use crate::snapshot::column::resources::oldest;

static RESOURCES: [Field<ResourceRow>; 24] = [
    Field::new("id", "unique within the process, never used twice", |row| {
        Fact::Number(row.id)
    }),
    Field::new(
        "kind",
        "mutex, rwlock, semaphore, barrier, notify, once_cell, mpsc, oneshot, broadcast, watch or timer",
        |row| Fact::Text(row.kind.word()),
    ),
    Field::new(
        "name",
        "kind and name, or kind and the place where it was made",
        |row| Fact::Text(&row.name),
    ),
    Field::new("made_at", "where it was made: file, line, column", |row| {
        Fact::Spot(Some(&row.made_at))
    }),
    Field::new("age_ns", "time since its first use", |row| {
        Fact::Number(row.age_ns)
    }),
    Field::new(
        "capacity",
        "permits, or items that fit in; null if unbounded, or there is no such thing",
        |row| Fact::Optional(row.capacity),
    ),
    Field::new(
        "level",
        "what is held, or the number of items inside; null if there is no such thing",
        |row| Fact::Optional(row.level),
    ),
    Field::new("closed", "nothing comes any more", |row| {
        Fact::Flag(row.closed)
    }),
    Field::new(
        "holders",
        "who holds it: task, role, amount, since_ns, at",
        |row| Fact::Holders(&row.holders),
    ),
    Field::new("holder_count", "how many hold it", |row| {
        Fact::Number(row.holder_count)
    }),
    Field::new(
        "waiters",
        "who waits for it, in order: task, role, amount, since_ns, at, woken_ns",
        |row| Fact::Waiters(&row.waiters),
    ),
    Field::new("waiter_count", "how many wait for it", |row| {
        Fact::Number(row.waiter_count)
    }),
    Field::new("oldest_wait_ns", "the longest of their waits", |row| {
        Fact::Optional(oldest(row))
    }),
    Field::new(
        "senders",
        "tasks that used the sending ends last; null is none of ours, or none yet",
        |row| Fact::Ends(&row.senders),
    ),
    Field::new("receivers", "the same of the receiving ends", |row| {
        Fact::Ends(&row.receivers)
    }),
    Field::new("will", "calls that will use it: task, role, proc", |row| {
        Fact::Intents(&row.will)
    }),
    Field::new("will_count", "how many will", |row| {
        Fact::Number(row.will_count)
    }),
    Field::new("may", "calls that may use it: task, role, proc", |row| {
        Fact::Intents(&row.may)
    }),
    Field::new("may_count", "how many may", |row| {
        Fact::Number(row.may_count)
    }),
    Field::new(
        "put",
        "times taken, or items put in, since its first use",
        |row| Fact::Number(row.put),
    ),
    Field::new(
        "took",
        "times given back, or items taken out (of a broadcast, by all receivers), since its first use",
        |row| Fact::Number(row.took),
    ),
    Field::new("waits", "waits begun since its first use", |row| {
        Fact::Number(row.waits)
    }),
    Field::new(
        "waited",
        "time from the beginning to the end of waits that were served",
        |row| Fact::Population(&row.waited),
    ),
    Field::new(
        "kept",
        "time that it was held; of a queue, that items spent inside",
        |row| Fact::Population(&row.kept),
    ),
];

impl Record for ResourceRow {
    fn fields() -> &'static [Field<Self>] {
        &RESOURCES
    }
}
