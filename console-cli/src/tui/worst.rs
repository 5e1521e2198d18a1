//! One list of what stands out, over all tables: alerts, long polls, late polls, full channels, long waits, busy procs.

use turbowish_model::account::resource::Role;
use turbowish_model::snapshot::units::{self, Micro, SECOND};
use turbowish_model::snapshot::{ProcRow, ResourceRow, TaskRow, TaskState};

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
    /// Why, in a few words, without its name; nothing of an alert, which its record and its line tell.
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

/// The rows that it is about.
struct Rows<'a> {
    procs: &'a [ProcRow],
    tasks: &'a [TaskRow],
    resources: &'a [ResourceRow],
    micro: Micro,
}

impl<'a> Rows<'a> {
    /// Those that came last: while a record is open the tables are not asked for.
    fn of(state: &'a State) -> Self {
        let micro = state.look.glyphs.micro;
        let survey = state.visit.survey.as_ref();
        match survey.filter(|_| state.record.is_some()) {
            Some(survey) => Self {
                procs: &survey.procs.rows,
                tasks: &survey.tasks.rows,
                resources: &survey.resources.rows,
                micro,
            },
            None => Self {
                procs: state.tables.procs.rows(),
                tasks: state.tables.tasks.rows(),
                resources: state.tables.resources.rows(),
                micro,
            },
        }
    }

    fn time(&self, ns: u64) -> String {
        units::duration(ns, self.micro)
    }
}

/// What stands out in all tables, the worst first.
pub(crate) fn list(state: &State) -> Vec<Thing> {
    let rows = Rows::of(state);
    let mut list = alerts(state);
    list.extend(paused(&rows));
    list.extend(polls(&rows));
    list.extend(resources(&rows));
    list.extend(waits(&rows));
    list.extend(procs(&rows));
    let mut seen: Vec<Thing> = Vec::new();
    for thing in list {
        if !seen.iter().any(|other| other.is(&thing.link)) {
            seen.push(thing);
        }
    }
    seen
}

fn alerts(state: &State) -> Vec<Thing> {
    let told = |alert| Thing {
        link: Link::alert(alert),
        told: String::new(),
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

fn in_state<'a>(rows: &Rows<'a>, is: TaskState, least: u64) -> Vec<&'a TaskRow> {
    let late = rows
        .tasks
        .iter()
        .filter(move |row| row.state == is && row.since_ns >= least);
    top(late, |row| row.since_ns)
}

/// Tasks that somebody keeps from being polled.
fn paused(rows: &Rows<'_>) -> Vec<Thing> {
    let told = |row: &TaskRow| Thing {
        link: row.link(),
        told: format!("paused for {}", rows.time(row.since_ns)),
    };
    let paused = in_state(rows, TaskState::Paused, 0);
    paused.into_iter().map(told).collect()
}

/// Tasks that poll for long, and tasks that are woken and not polled.
fn polls(rows: &Rows<'_>) -> Vec<Thing> {
    let told = |row: &TaskRow, word: &str| Thing {
        link: row.link(),
        told: format!("{word} {}", rows.time(row.since_ns)),
    };
    let long = in_state(rows, TaskState::Polling, LONG).into_iter();
    let long = long.map(|row| told(row, "polling for"));
    let late = in_state(rows, TaskState::Ready, LONG).into_iter();
    long.chain(late.map(|row| told(row, "ready"))).collect()
}

/// Channels that are full while somebody waits to send.
fn resources(rows: &Rows<'_>) -> Vec<Thing> {
    let full = rows.resources.iter().filter(|row| {
        let sends = row.waiters.iter().any(|waiter| waiter.role == Role::Send);
        sends && row.capacity.is_some_and(|all| row.level >= Some(all))
    });
    let full = top(full, |row| row.waiter_count);
    let told = full.into_iter().map(|row| Thing {
        link: row.link(),
        told: match row.waiter_count {
            1 => "full, 1 waiting".to_owned(),
            n => format!("full, {} waiting", units::count(n)),
        },
    });
    told.collect()
}

/// Tasks that wait longest for something that somebody has.
fn waits(rows: &Rows<'_>) -> Vec<Thing> {
    let blocks = |role| !matches!(role, Role::Receive | Role::Wait);
    let stuck = rows
        .tasks
        .iter()
        .filter(|row| row.since_ns >= LONG && row.waits_on.iter().any(|claim| blocks(claim.role)));
    let told = top(stuck, |row| row.since_ns).into_iter().map(|row| {
        let on: Vec<&str> = row.waits_on.iter().map(|claim| &*claim.resource).collect();
        let since = rows.time(row.since_ns);
        Thing {
            link: row.link(),
            told: format!("waiting {since} on {}", on.join(", ")),
        }
    });
    told.collect()
}

fn procs(rows: &Rows<'_>) -> Vec<Thing> {
    let busy = rows.procs.iter().filter(|row| row.occupancy_ppm >= BUSY);
    let told = top(busy, |row| row.running_ns)
        .into_iter()
        .map(|row| Thing {
            link: row.link(),
            told: format!("runs {}%", units::share(row.occupancy_ppm * 1_000)),
        });
    told.collect()
}
