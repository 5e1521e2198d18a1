//! The triage list of all tables: alerts, long polls, late polls, full channels, long waits, busy
//! procs.

use turbowish_model::account::resource::Role;
use turbowish_model::snapshot::units::{self, Micro, SECOND};
use turbowish_model::snapshot::{ProcRow, ResourceRow, TaskRow, TaskState};

use super::rows::Entry;
use super::state::State;
use crate::detail::rich_line::Link;

/// Thresholds for the length of a poll and for the age of a wake-up.
const LONG: u64 = SECOND / 10;
/// Threshold for the load of a proc, in millionths of one core.
const BUSY: u64 = 10_000;
/// Maximal number of entries of each kind.
const EACH: usize = 3;

/// An entry of the triage list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thing {
    pub(crate) link: Link,
    /// The reason in a few words, without the name; empty for an alert, whose record and line
    /// contain it.
    pub(crate) told: String,
}

impl Thing {
    pub(crate) fn is(&self, link: &Link) -> bool {
        same(&self.link, link)
    }
}

/// Whether both lead to the same record; the ID may be unknown in one of them.
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

/// The rows to examine.
struct TriageRows<'a> {
    procs: &'a [ProcRow],
    tasks: &'a [TaskRow],
    resources: &'a [ResourceRow],
    micro: Micro,
}

impl<'a> TriageRows<'a> {
    /// The rows received last: while a record is open the tables are not requested.
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

/// The entries of all tables, the worst first.
pub(crate) fn list(state: &State) -> Vec<Thing> {
    let rows = TriageRows::of(state);
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
    // The one that the alert line names may be over.
    let alerts = state.headline().into_iter().chain(state.heard());
    alerts.map(told).collect()
}

/// The three largest, in descending order.
fn top<R>(rows: impl Iterator<Item = R>, by: impl Fn(&R) -> u64) -> Vec<R> {
    let mut rows: Vec<R> = rows.collect();
    rows.sort_by_key(|row| std::cmp::Reverse(by(row)));
    rows.truncate(EACH);
    rows
}

fn in_state<'a>(rows: &TriageRows<'a>, is: TaskState, least: u64) -> Vec<&'a TaskRow> {
    let late = rows
        .tasks
        .iter()
        .filter(move |row| row.state == is && row.since_ns >= least);
    top(late, |row| row.since_ns)
}

/// Paused tasks.
fn paused(rows: &TriageRows<'_>) -> Vec<Thing> {
    let told = |row: &TaskRow| Thing {
        link: row.link(),
        told: format!("paused for {}", rows.time(row.since_ns)),
    };
    let paused = in_state(rows, TaskState::Paused, 0);
    paused.into_iter().map(told).collect()
}

/// Tasks with a long poll, and tasks that are woken and not polled.
fn polls(rows: &TriageRows<'_>) -> Vec<Thing> {
    let told = |row: &TaskRow, word: &str| Thing {
        link: row.link(),
        told: format!("{word} {}", rows.time(row.since_ns)),
    };
    let long = in_state(rows, TaskState::Polling, LONG).into_iter();
    let long = long.map(|row| told(row, "polling for"));
    let late = in_state(rows, TaskState::Ready, LONG).into_iter();
    long.chain(late.map(|row| told(row, "ready"))).collect()
}

/// Channels that are full while a task waits to send.
fn resources(rows: &TriageRows<'_>) -> Vec<Thing> {
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

/// The tasks with the longest waits for a resource that is held.
fn waits(rows: &TriageRows<'_>) -> Vec<Thing> {
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

fn procs(rows: &TriageRows<'_>) -> Vec<Thing> {
    let busy = rows.procs.iter().filter(|row| row.occupancy_ppm >= BUSY);
    let told = top(busy, |row| row.running_ns)
        .into_iter()
        .map(|row| Thing {
            link: row.link(),
            told: format!("runs {}%", units::share(row.occupancy_ppm * 1_000)),
        });
    told.collect()
}
