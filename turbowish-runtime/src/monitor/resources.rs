//! Rows of resources, and the resources of each task.

use std::panic::Location;
use std::sync::Arc;

use turbowish_model::account::resource::{
    CurrentCall, Intent, Kind, LongestUse, Reading, Rest, Role, Strength,
};
use turbowish_model::collect::assemble::{Assembly, Names};
use turbowish_model::ordered::Set;
use turbowish_model::snapshot::{HolderRow, IntentRow, LongestRow, ResourceRow, WaiterRow};

use super::tasks::{NameTable, spot};
use crate::resource::{self, Record};
use turbowish_model::sorting;

/// All resources that were used and still exist, for the alert rules. A waiter beyond the listed
/// ones that holds something for which others may wait can be part of a deadlock: such waiters are
/// appended to the list.
pub(super) fn judged() -> Vec<Reading> {
    let records = sorted();
    let mut all: Vec<Reading> = records.iter().map(|record| record.judged()).collect();
    if !all.iter().any(Reading::is_cut) {
        return all;
    }
    let owners: Set<u64> = all.iter().flat_map(owners).collect();
    for (record, reading) in records.iter().zip(&mut all) {
        let more = record.waiters_of(reading, |task| owners.contains(&task));
        reading.waiters.extend(more);
    }
    all
}

fn sorted() -> Vec<Arc<Record>> {
    let mut records = resource::all();
    sorting::by_key(&mut records, |record| record.id);
    records
}

/// The tasks that hold a part of a resource, use an end of it, or provably have one.
fn owners(reading: &Reading) -> impl Iterator<Item = u64> {
    let holders = reading.holders.iter().map(|holder| holder.who.task);
    let users = reading.ends.iter().filter_map(|end| end.user);
    let proven = reading.intents.iter().filter(|intent| intent.proven);
    let all = holders.chain(users);
    all.chain(proven.map(|intent| intent.who.task))
}

/// All resources that were used and still exist, with the users that are not listed.
pub(super) fn whole() -> (Vec<Reading>, Vec<Rest>) {
    let read = |record: &Arc<Record>| {
        let reading = record.read();
        let rest = record.rest(&reading);
        (reading, rest)
    };
    sorted().iter().map(read).unzip()
}

/// Kind and given name, or kind and source location.
pub(super) fn name(reading: &Reading) -> String {
    label(reading.kind, reading.name.as_deref(), reading.place)
}

/// The same for a resource that may be gone.
pub(super) fn label(kind: Kind, name: Option<&str>, place: &Location<'_>) -> String {
    let kind = kind.word();
    match name {
        Some(name) => format!("{kind} {name}"),
        None => {
            let file = place.file();
            let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
            format!("{kind} {file}:{}", place.line())
        }
    }
}

/// Items put in and not taken out.
pub(super) const fn inside(reading: &Reading) -> u64 {
    match reading.kind {
        Kind::Mpsc => reading.flow.put.saturating_sub(reading.flow.took),
        _ => 0,
    }
}

/// Amount held or inside, for kinds that have one.
fn level(reading: &Reading) -> Option<u64> {
    match reading.kind {
        Kind::Mutex | Kind::RwLock | Kind::Semaphore => Some(reading.held),
        Kind::Barrier => Some(reading.waiter_count),
        // Reserved capacity is not free. An item leaves the channel before it is counted out.
        Kind::Mpsc => {
            Some((inside(reading) + reading.held).min(reading.capacity.unwrap_or(u64::MAX)))
        }
        _ => None,
    }
}

/// Rows of `readings`, which were read by `read_at`: later than the totals, so some of it may be
/// newer.
pub(super) fn rows<N: Names>(
    assembly: &Assembly<'_, N>,
    known: &NameTable<'_>,
    readings: &[Reading],
    read_at: u64,
) -> Vec<ResourceRow> {
    readings
        .iter()
        .map(|reading| row(assembly, known, reading, read_at))
        .collect()
}

fn row<N: Names>(
    assembly: &Assembly<'_, N>,
    known: &NameTable<'_>,
    reading: &Reading,
    read_at: u64,
) -> ResourceRow {
    let age = |since: u64| assembly.ago_by(since, read_at);
    let task = |who: CurrentCall| known.name(who.task);
    let holders = reading.holders.iter().map(|holder| HolderRow {
        task: task(holder.who),
        role: holder.role,
        amount: holder.amount.into(),
        since_ns: age(holder.since),
        at: spot(holder.at),
    });
    let waiters = reading.waiters.iter().map(|waiter| WaiterRow {
        task: task(waiter.who),
        role: waiter.role,
        amount: waiter.amount.into(),
        since_ns: age(waiter.since),
        at: spot(waiter.at),
        woken_ns: waiter.woken.map(age),
    });
    let users = |role: Role| {
        let ends = reading.ends.iter().filter(move |end| end.role == role);
        ends.map(|end| known.name(end.user?)).collect()
    };
    let longest = |used: &LongestUse| longest_row(assembly, known, used, age(used.end));
    let times = &reading.times;
    let ticks = |used: Option<LongestUse>| used.map(|used| used.ticks);
    ResourceRow {
        id: reading.id,
        kind: reading.kind,
        name: name(reading),
        made_at: spot(reading.place),
        age_ns: age(reading.created),
        capacity: reading.capacity,
        level: level(reading),
        closed: reading.closed,
        holders: holders.collect(),
        holder_count: reading.holder_count,
        waiters: waiters.collect(),
        waiter_count: reading.waiter_count,
        senders: users(Role::Send),
        receivers: users(Role::Receive),
        will: intents(assembly, known, reading, Strength::Will),
        will_count: reading.intent_counts.0,
        may: intents(assembly, known, reading, Strength::May),
        may_count: reading.intent_counts.1,
        put: reading.flow.put,
        took: reading.flow.took,
        waits: reading.flow.waits,
        waited: assembly.population(&times.waited, ticks(times.longest_wait)),
        kept: assembly.population(&times.kept, ticks(times.longest_hold)),
        longest_wait: times.longest_wait.as_ref().map(longest),
        longest_hold: times.longest_hold.as_ref().map(longest),
        longest_queue: times.longest_queue.map_or(0, |queue| queue.count),
        longest_queue_ago_ns: times.longest_queue.map_or(0, |queue| age(queue.at)),
    }
}

/// A longest use that ended `ago_ns` ago.
fn longest_row<N: Names>(
    assembly: &Assembly<'_, N>,
    known: &NameTable<'_>,
    used: &LongestUse,
    ago_ns: u64,
) -> LongestRow {
    LongestRow {
        took_ns: assembly.scale.ns(used.ticks),
        ago_ns,
        role: used.role,
        task: known.name(used.who.task),
        proc: path(assembly, used.who),
        at: used.at.map(spot),
        on: used.thread.and_then(|thread| known.thread(thread)),
        behind: known.name(used.behind),
    }
}

fn intents<N: Names>(
    assembly: &Assembly<'_, N>,
    known: &NameTable<'_>,
    reading: &Reading,
    strength: Strength,
) -> Vec<IntentRow> {
    let intents = of_strength(reading, strength).map(|intent| IntentRow {
        task: known.name(intent.who.task),
        role: intent.role,
        proc: path(assembly, intent.who),
    });
    intents.collect()
}

fn of_strength(reading: &Reading, strength: Strength) -> impl Iterator<Item = &Intent> {
    let intents = reading.intents.iter();
    intents.filter(move |intent| intent.strength == strength)
}

/// Path of a call's proc.
pub(super) fn path<N: Names>(assembly: &Assembly<'_, N>, who: CurrentCall) -> String {
    let proc = who.proc.checked_sub(1);
    let proc = proc.and_then(|proc| assembly.names.proc(proc));
    proc.map_or_else(String::new, |proc| proc.path.to_owned())
}
