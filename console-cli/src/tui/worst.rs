//! One list of what stands out, over all tables: alerts, long polls, late polls, full channels, long waits, busy procs.

use turbowish_model::resource::Role;
use turbowish_model::snapshot::{TaskRow, TaskState};
use turbowish_model::units::{self, SECOND};

use super::rows::Entry;
use super::state::State;
use crate::record::told::Link;

/// A poll of that length, and a wake-up that old, stand out.
const LONG: u64 = SECOND / 10;
/// A share of one core from which on a proc stands out, in millionths.
const BUSY: u64 = 10_000;
/// So many of each kind.
const EACH: usize = 3;

/// Something that stands out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thing {
    pub(crate) link: Link,
    /// Why, in a few words.
    pub(crate) told: String,
}

impl Thing {
    pub(crate) fn is(&self, link: &Link) -> bool {
        same(&self.link, link)
    }
}

/// Whether both lead to the same record: a number is not known to everybody.
pub(crate) fn same(a: &Link, b: &Link) -> bool {
    let ids = |a: &Option<u64>, b: &Option<u64>| a.is_none() || b.is_none() || a == b;
    match (a, b) {
        (
            Link::Task { id, name },
            Link::Task {
                id: other,
                name: called,
            },
        )
        | (
            Link::Resource { id, name },
            Link::Resource {
                id: other,
                name: called,
            },
        ) => name == called && ids(id, other),
        _ => a == b,
    }
}

/// What stands out in the rows of the tables, the worst first: the same while a record is open.
pub(crate) fn list(state: &State) -> Vec<Thing> {
    let mut list = alerts(state);
    list.extend(polls(state));
    list.extend(resources(state));
    list.extend(waits(state));
    list.extend(procs(state));
    let mut seen: Vec<Thing> = Vec::new();
    for thing in list {
        if !seen.iter().any(|other| other.is(&thing.link)) {
            seen.push(thing);
        }
    }
    seen
}

fn time(state: &State, ns: u64) -> String {
    units::duration(ns, state.look.glyphs.micro)
}

fn alerts(state: &State) -> Vec<Thing> {
    let told = |alert| Thing {
        link: Link::alert(alert),
        told: alert.title.clone(),
    };
    state.heard().map(told).collect()
}

/// The largest first, three of them.
fn top<R>(rows: impl Iterator<Item = R>, by: impl Fn(&R) -> u64) -> Vec<R> {
    let mut rows: Vec<R> = rows.collect();
    rows.sort_by_key(|row| std::cmp::Reverse(by(row)));
    rows.truncate(EACH);
    rows
}

fn in_state(state: &State, is: TaskState, least: u64) -> Vec<&TaskRow> {
    let rows = state.tables.tasks.rows().iter();
    let late = rows.filter(move |row| row.state == is && row.since_ns >= least);
    top(late, |row| row.since_ns)
}

/// Tasks that poll for long, and tasks that are woken and not polled.
fn polls(state: &State) -> Vec<Thing> {
    let told = |row: &TaskRow, word: &str| Thing {
        link: row.link(),
        told: format!("{} {word} {}", row.name, time(state, row.since_ns)),
    };
    let long = in_state(state, TaskState::Polling, LONG).into_iter();
    let long = long.map(|row| told(row, "polls for"));
    let late = in_state(state, TaskState::Ready, LONG).into_iter();
    long.chain(late.map(|row| told(row, "ready"))).collect()
}

/// Channels that are full while somebody waits to send.
fn resources(state: &State) -> Vec<Thing> {
    let rows = state.tables.resources.rows().iter();
    let full = rows.filter(|row| {
        let sends = row.waiters.iter().any(|waiter| waiter.role == Role::Send);
        sends && row.capacity.is_some_and(|all| row.level >= Some(all))
    });
    let full = top(full, |row| row.waiter_count);
    let told = full.into_iter().map(|row| Thing {
        link: row.link(),
        told: format!(
            "{} is full, {} wait",
            row.name,
            units::count(row.waiter_count)
        ),
    });
    told.collect()
}

/// Tasks that wait longest for something that somebody has.
fn waits(state: &State) -> Vec<Thing> {
    let rows = state.tables.tasks.rows().iter();
    let blocks = |role| !matches!(role, Role::Receive | Role::Wait);
    let stuck = rows
        .filter(|row| row.since_ns >= LONG && row.waits_on.iter().any(|claim| blocks(claim.role)));
    let told = top(stuck, |row| row.since_ns).into_iter().map(|row| {
        let on: Vec<&str> = row.waits_on.iter().map(|claim| &*claim.resource).collect();
        let since = time(state, row.since_ns);
        Thing {
            link: row.link(),
            told: format!("{} waits {since} on {}", row.name, on.join(", ")),
        }
    });
    told.collect()
}

fn procs(state: &State) -> Vec<Thing> {
    let rows = state.tables.procs.rows().iter();
    let busy = rows.filter(|row| row.occupancy_ppm >= BUSY);
    let told = top(busy, |row| row.running_ns)
        .into_iter()
        .map(|row| Thing {
            link: row.link(),
            told: format!(
                "{} runs {}%",
                row.proc,
                units::share(row.occupancy_ppm * 1_000)
            ),
        });
    told.collect()
}
