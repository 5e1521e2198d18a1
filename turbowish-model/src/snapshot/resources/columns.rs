//! Columns of resources: how full each one is, who waits and since when, and who holds it.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::account::resource::{Kind, Role};
use crate::snapshot::ResourceRow;
use crate::snapshot::alert::PartyKind;
use crate::snapshot::column::Unit::{Count, Duration, Place, Rate, Share, Text};
use crate::snapshot::column::{Column, Family, Heading, Row, Value};
use crate::snapshot::quantile::Distribution;
use crate::snapshot::units;

const WAIT: Family<ResourceRow> = Family {
    prefix: "wait",
    title: "WAIT",
    meaning: "percentile of the duration of served waits",
    fields: &["waited"],
    of: |row| Some(&row.waited),
};
const HOLD: Family<ResourceRow> = Family {
    prefix: "hold",
    title: "HOLD",
    meaning: "percentile of the time that it was held; for a queue, of the time that items spent in it",
    fields: &["kept"],
    of: kept,
};

static FAMILIES: [Family<ResourceRow>; 2] = [WAIT, HOLD];

static COLUMNS: [Column<ResourceRow>; 20] = [
    Heading::new("resource", "RESOURCE", Text)
        .width(15)
        .rank(0)
        .meaning("kind and name, or kind and the place where it was created")
        .fields(&["id", "kind", "name"])
        .read(|row, _| Value::Text(Cow::Borrowed(&row.name))),
    Heading::new("fill", "FILL", Share)
        .width(7)
        .rank(0)
        .meaning("held / permits; or items and reserved slots / capacity; if unbounded, items")
        .fields(&["level", "capacity"])
        .read(|row, _| {
            row.fill()
                .map_or(Value::Blank, |(level, capacity)| Value::Fill {
                    level,
                    capacity,
                })
        }),
    Heading::new("waiters", "WAIT", Count)
        .width(4)
        .rank(0)
        .meaning("current waits")
        .fields(&["waiter_count"])
        .read(|row, _| Value::Count(row.waiter_count)),
    Heading::new("oldest", "OLDEST", Duration)
        .width(6)
        .rank(0)
        .meaning("longest current wait")
        .fields(&["oldest_wait_ns"])
        .read(|row, _| oldest(row).map_or(Value::Blank, Value::Duration)),
    Heading::new("ops", "OPS/s", Rate)
        .width(6)
        .rank(0)
        .meaning("acquisitions, or items received, per second since its first use")
        .fields(&["put", "took", "age_ns"])
        .read(|row, _| Value::rate(operations(row), row.age_ns)),
    Column::percentile("wait_p99", "WAITp99", &WAIT, 99, 0),
    Heading::new("wait_max", "WAITmax", Duration)
        .width(7)
        .rank(4)
        .meaning("longest served wait since its first use")
        .fields(&["waited"])
        .read(|row, _| Value::longest(&row.waited)),
    Column::percentile("hold_p99", "HOLDp99", &HOLD, 99, 0),
    Heading::new("hold_max", "HOLDmax", Duration)
        .width(7)
        .rank(3)
        .meaning("longest time that it was held since its first use; for a queue, that an item spent in it")
        .fields(&["kept"])
        .read(|row, _| kept(row).map_or(Value::Blank, Value::longest)),
    Heading::new("by", "HELD BY", Text)
        .width(10)
        .rank(0)
        .meaning(
            "its holders; for a channel, tasks that receive or, \
             if it is empty, send, now or later; ?: external",
        )
        .fields(&["holders", "senders", "receivers", "will"])
        .read(|row, _| by(row)),
    Heading::new("waiting", "WAITING", Text)
        .width(12)
        .rank(1)
        .meaning("tasks that wait for it, in order; ?: external")
        .fields(&["waiters", "waiter_count"])
        .read(|row, _| {
            let waiters = row.waiters.iter();
            let names = waiters.map(|waiter| known(waiter.task.as_deref()));
            Value::first_names(names, row.waiter_count)
        }),
    Heading::new("will", "WILL", Count)
        .width(5)
        .meaning("calls that will use it")
        .fields(&["will_count"])
        .read(|row, _| Value::Count(row.will_count)),
    Heading::new("may", "MAY", Count)
        .width(5)
        .meaning("calls that may use it")
        .fields(&["may_count"])
        .read(|row, _| Value::Count(row.may_count)),
    Heading::new("in", "IN/s", Rate)
        .width(6)
        .rank(5)
        .meaning("acquisitions, or items sent, per second since its first use")
        .fields(&["put", "age_ns"])
        .read(|row, _| Value::rate(row.put, row.age_ns)),
    Heading::new("out", "OUT/s", Rate)
        .width(6)
        .rank(6)
        .meaning("releases, or items received, per second since its first use")
        .fields(&["took", "age_ns"])
        .read(|row, _| Value::rate(row.took, row.age_ns)),
    Heading::new("site", "MADE AT", Place)
        .width(24)
        .rank(2)
        .meaning("where it was created, file:line")
        .fields(&["made_at"])
        .read(|row, _| Value::Place {
            file: &row.made_at.file,
            line: row.made_at.line,
        }),
    Heading::new("waits", "WAITS", Count)
        .width(5)
        .rank(7)
        .meaning("waits begun since its first use")
        .fields(&["waits"])
        .read(|row, _| Value::Count(row.waits)),
    Heading::new("age", "AGE", Duration)
        .width(6)
        .rank(8)
        .meaning("time since its first use")
        .fields(&["age_ns"])
        .read(|row, _| Value::Duration(row.age_ns)),
    Heading::new("kind", "KIND", Text)
        .width(9)
        .meaning(
            "mutex, rwlock, semaphore, barrier, notify, \
             once_cell, mpsc, oneshot, broadcast, watch, timer",
        )
        .fields(&["kind"])
        .read(|row, _| Value::Text(Cow::Borrowed(row.kind.word()))),
    Heading::new("level", "LEVEL", Count)
        .width(5)
        .meaning("amount held, or number of items")
        .fields(&["level"])
        .read(|row, _| row.level.map_or(Value::Blank, Value::Count)),
];

/// Durations of holds. A signal or a watched value has no holder; a queue has values once an item
/// has gone through.
fn kept(row: &ResourceRow) -> Option<&Distribution> {
    let applies = match row.kind {
        Kind::Mutex | Kind::RwLock | Kind::Semaphore | Kind::OnceCell => true,
        Kind::Mpsc | Kind::Broadcast => row.kept.n > 0,
        Kind::Barrier | Kind::Notify | Kind::Oneshot | Kind::Watch | Kind::Timer => false,
    };
    applies.then_some(&row.kept)
}

/// The longest wait of its waiters, in nanoseconds.
pub(crate) fn oldest(row: &ResourceRow) -> Option<u64> {
    row.waiters.iter().map(|waiter| waiter.since_ns).max()
}

/// Number of uses: items taken out of a queue that hands out each item once, otherwise `put`.
fn operations(row: &ResourceRow) -> u64 {
    match row.kind {
        Kind::Mpsc => row.took,
        _ => row.put,
    }
}

/// Name of a task, or the sign for one that is not instrumented.
pub(crate) fn known(task: Option<&str>) -> Cow<'_, str> {
    Cow::Borrowed(task.unwrap_or(units::UNKNOWN))
}

/// Tasks that could unblock a waiter: the holders, or the other end of a channel.
fn by(row: &ResourceRow) -> Value<'_> {
    if is_channel(row.kind) {
        return channel(row);
    }
    let holders = row.holders.iter().map(|holder| holder.task.as_deref());
    match row.holder_count {
        // Any task may signal.
        0 if row.kind == Kind::Notify && row.waiter_count > 0 => Value::Unknown,
        0 => Value::Blank,
        _ => tasks(distinct(holders), row.holder_count),
    }
}

const fn is_channel(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Mpsc | Kind::Oneshot | Kind::Broadcast | Kind::Watch
    )
}

/// Whether receivers are waited for: an item is inside, or a task wants to put one in.
fn fills(row: &ResourceRow) -> bool {
    match row.waiters.first() {
        Some(first) => first.role == Role::Send,
        None => row.level.is_some_and(|level| level > 0),
    }
}

/// Tasks that empty a channel (items first, then reserved slots), or tasks that fill it.
fn channel(row: &ResourceRow) -> Value<'_> {
    let will = |role: Role| {
        let of_role = row.will.iter().filter(move |intent| intent.role == role);
        of_role.map(|intent| intent.task.as_deref())
    };
    let names = if fills(row) {
        let reserved = row.holders.iter().map(|holder| holder.task.as_deref());
        let items = row.level != Some(0) || row.holders.is_empty();
        let receivers = row.receivers.iter().filter(|_| items);
        let receivers = receivers.map(Option::as_deref);
        distinct(receivers.chain(reserved).chain(will(Role::Receive)))
    } else {
        let senders = row.senders.iter().map(Option::as_deref);
        distinct(senders.chain(will(Role::Send)))
    };
    let count = names.len() as u64;
    tasks(names, count)
}

/// Each task once, in order; all tasks that are not instrumented count as one.
fn distinct<'a>(tasks: impl Iterator<Item = Option<&'a str>>) -> Vec<Option<&'a str>> {
    let mut names = Vec::new();
    for task in tasks {
        if !names.contains(&task) {
            names.push(task);
        }
    }
    names
}

/// The names of a few tasks, otherwise their number; unknown if no name is known.
fn tasks(names: Vec<Option<&str>>, count: u64) -> Value<'_> {
    if names.iter().all(Option::is_none) && !names.is_empty() {
        return Value::Unknown;
    }
    if names.len() > NAMED {
        return Value::Text(Cow::Owned(alloc::format!("{count} tasks")));
    }
    Value::names(names.into_iter().map(known))
}

/// Maximum number of tasks that are named.
const NAMED: usize = 3;

impl Row for ResourceRow {
    const OWN_ORDER: &'static str = "worst";
    const PRINTED: &'static [&'static str] = &[
        "resource", "fill", "waiters", "oldest", "ops", "wait_p", "hold_p", "by", "waiting", "site",
    ];
    const NEEDED: &'static [&'static str] = &["name", "kind", "level", "holders", "holder_count"];
    const PLACE: &'static str = "site";

    fn columns() -> &'static [Column<Self>] {
        &COLUMNS
    }

    fn families() -> &'static [Family<Self>] {
        &FAMILIES
    }

    fn label(&self) -> String {
        self.name.clone()
    }

    fn name(&self) -> (&str, u64) {
        (&self.name, self.id)
    }

    /// Blocked waiters first, then resources at which something is awaited, then by the longest
    /// wait that was served, then by fill.
    fn worst(&self) -> (u8, u64) {
        let held_up = self.waiters.iter().filter(|waiter| waiter.role.holds_up());
        if let Some(longest) = held_up.map(|waiter| waiter.since_ns).max() {
            return (0, longest);
        }
        if let Some(longest) = oldest(self) {
            return (1, longest);
        }
        if let Some(longest) = &self.longest_wait {
            return (2, longest.took_ns);
        }
        let share = |(level, all): (u64, Option<u64>)| units::ppb(level, all?).into();
        (3, self.fill().and_then(share).unwrap_or(0))
    }

    fn party(&self) -> Option<(PartyKind, u64, &str)> {
        Some((PartyKind::Resource, self.id, ""))
    }

    fn search(&self, found: &mut dyn FnMut(&str) -> bool) -> bool {
        let at = &self.made_at;
        found(&self.name)
            || found(self.kind.word())
            || found(&alloc::format!("{}:{}", at.file, at.line))
            || self.tasks().any(found)
    }
}

impl ResourceRow {
    /// Amount in use, and capacity; `None` where not applicable.
    ///
    /// A read-write lock that is being written is full. Reserved slots of a channel count like
    /// items: no other task can get them.
    #[must_use]
    pub fn fill(&self) -> Option<(u64, Option<u64>)> {
        let level = self.level?;
        Some(match self.kind {
            Kind::RwLock if self.is_written() => (1, Some(1)),
            Kind::Mpsc => (level.saturating_add(self.reserved()), self.capacity),
            _ => (level, self.capacity),
        })
    }

    /// Whether a task holds a read-write lock for writing.
    #[must_use]
    pub fn is_written(&self) -> bool {
        let mut holders = self.holders.iter();
        holders.any(|holder| holder.role == Role::Write)
    }

    fn reserved(&self) -> u64 {
        let amounts = self.holders.iter().map(|holder| holder.amount);
        let shown = amounts.fold(0, u64::saturating_add);
        let others = self.holder_count.saturating_sub(self.holders.len() as u64);
        shown.saturating_add(others)
    }

    /// Every known holder, waiter and user.
    fn tasks(&self) -> impl Iterator<Item = &str> {
        let holders = self.holders.iter().map(|holder| &holder.task);
        let waiters = self.waiters.iter().map(|waiter| &waiter.task);
        let ends = self.senders.iter().chain(&self.receivers);
        let intents = self.will.iter().chain(&self.may).map(|row| &row.task);
        holders
            .chain(waiters)
            .chain(ends)
            .chain(intents)
            .filter_map(Option::as_deref)
    }
}
