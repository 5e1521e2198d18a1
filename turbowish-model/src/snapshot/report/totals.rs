//! The process in a few words: time in polls, overhead, tasks and losses. The console's header and
//! footer say the same.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::snapshot::units::{self, Micro, SECOND};
use crate::snapshot::{Accounting, ProcRow, Snapshot};

/// `overhead ~1.4% + monitor 0.2%`, of one core: accounting on the program's threads, and the
/// monitor's thread. `None` if unknown.
#[must_use]
pub fn own_cost(snapshot: &Snapshot) -> Option<String> {
    let cost = snapshot.process.own_cost?;
    let accounting = about(cost.ppm);
    Some(match cost.monitor_ppm {
        None => format!("overhead {accounting}%"),
        Some(monitor) => format!("overhead {accounting}% + monitor {}%", share(monitor)),
    })
}

/// `overhead ~1.6%`: the sum of both, where space is too short for [`own_cost`].
#[must_use]
pub fn own_cost_in_all(snapshot: &Snapshot) -> Option<String> {
    let cost = snapshot.process.own_cost?;
    let all = cost.ppm.saturating_add(cost.monitor_ppm.unwrap_or(0));
    Some(format!("overhead {}%", about(all)))
}

fn share(ppm: u64) -> String {
    units::share(ppm.saturating_mul(1_000))
}

/// Formats an estimate. `<0.1` already says that it is one.
fn about(ppm: u64) -> String {
    let share = share(ppm);
    let about = if share.starts_with('<') { "" } else { "~" };
    format!("{about}{share}")
}

/// `in polls 182.1% of 400%`: time in polls of all workers, relative to one core.
#[must_use]
pub fn in_polls(snapshot: &Snapshot) -> String {
    let busy = snapshot.workers.iter().map(|worker| worker.busy_ns).sum();
    let share = units::share(units::ppb(busy, snapshot.window_ns));
    format!("in polls {share}% of {}%", snapshot.workers.len() * 100)
}

/// Same as [`in_polls`], but from the table of procs, which includes threads that have ended, such
/// as those of a runtime that was dropped. Their time is no share of the cores of live threads.
pub(super) fn in_all_polls(snapshot: &Snapshot) -> String {
    let all = running(&snapshot.procs.rows);
    let share = units::share(units::ppb(all, snapshot.window_ns));
    let of_living = in_polls(snapshot);
    match of_living.starts_with(&format!("in polls {share}%")) {
        true => of_living,
        false => format!("in polls {share}% of one core"),
    }
}

pub(super) fn running(rows: &[ProcRow]) -> u64 {
    rows.iter().map(|row| row.running_ns).sum()
}

/// Number of live covered tasks.
#[must_use]
pub fn covered(snapshot: &Snapshot) -> u64 {
    let tasks = &snapshot.tasks_by_state;
    tasks.polling + tasks.ready.unwrap_or(0) + tasks.waiting + tasks.paused
}

/// Upper bound of the number of live tasks without a row because they were not polled since
/// accounting was armed: tasks that waited before are unknown. 0 if accounting was armed from the
/// start.
#[must_use]
pub fn unpolled(snapshot: &Snapshot) -> u64 {
    let process = &snapshot.process;
    let armed_ns = snapshot
        .at_unix_ns
        .saturating_sub(process.accounting_since_unix_ns);
    let from_start = armed_ns.saturating_add(SECOND) >= process.uptime_ns;
    match (process.accounting, process.runtime_tasks) {
        (Accounting::Armed, Some(all)) if !from_start => all.saturating_sub(covered(snapshot)),
        _ => 0,
    }
}

pub(super) fn alive(snapshot: &Snapshot) -> String {
    let covered = covered(snapshot);
    let unpolled = match unpolled(snapshot) {
        0 => String::new(),
        n => format!(", up to {n} not polled since accounting was switched on"),
    };
    match snapshot.process.runtime_tasks {
        Some(all) => format!("{all} tasks alive, {covered} covered{unpolled}"),
        None => format!("{covered} covered tasks alive"),
    }
}

/// Total number of losses of accounting.
#[must_use]
pub fn lost(snapshot: &Snapshot) -> u64 {
    snapshot.lost.total()
}

/// `152 calls began before accounting, last 4m12s ago`: what was lost and when; `None` if nothing
/// was.
#[must_use]
pub fn losses(snapshot: &Snapshot) -> Option<String> {
    let reasons = snapshot.lost.reasons();
    let told = reasons.map(|(n, reason)| format!("{} {}", units::count(n), reason.what(n)));
    let mut told: Vec<String> = told.collect();
    if told.is_empty() {
        return None;
    }
    if let Some(ago) = snapshot.lost.last_ago_ns {
        told.push(format!("last {} ago", units::duration(ago, Micro::Unicode)));
    }
    Some(told.join(", "))
}

/// `lost 152 (152 calls began before accounting, last 4m12s ago)`, or `lost 0`.
#[must_use]
pub fn lost_in_full(snapshot: &Snapshot) -> String {
    let count = units::count(lost(snapshot));
    match losses(snapshot) {
        None => format!("lost {count}"),
        Some(losses) => format!("lost {count} ({losses})"),
    }
}
