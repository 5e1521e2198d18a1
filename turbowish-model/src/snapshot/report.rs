//! Report at exit: one screen of text from a snapshot since the start, and the same as JSON.

mod counters;
mod totals;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use self::totals::{alive, in_all_polls, running};
pub use self::totals::{
    covered, in_polls, losses, lost, lost_in_full, own_cost, own_cost_in_all, unpolled,
};
use crate::snapshot::alert::{Alert, Party, PartyKind};
use crate::snapshot::column::{self, Column, Context, Row, Style, Value};
use crate::snapshot::json::{self, Options};
use crate::snapshot::sanitize;
use crate::snapshot::tasks::leaf;
use crate::snapshot::text_table::{Header, TextTable, aligned};
use crate::snapshot::units::{self, Micro};
use crate::snapshot::{Place, ProcRow, Snapshot, Table, TaskRow, TaskState};

/// Number of procs that always have their own line.
const FIRST_ROWS: usize = 9;
/// Maximum number of procs with their own line.
const MOST_ROWS: usize = 40;
/// Share in billionths below which a proc beyond the first ones is merged into the last line.
const SMALL_PPB: u64 = 10_000_000;
/// Maximum number of waiting tasks that are named.
const WAITING_ROWS: usize = 5;
/// Maximum number of alerts with a line.
const ALERT_ROWS: usize = 5;

/// Returns the report as text, for stderr: procs by running time, and waiting tasks. `saved` names
/// the file with the whole report, if one was written.
///
/// The snapshot's window must begin at the start of accounting. Its procs must be in descending
/// order of running time and its tasks worst first, both without a limit.
#[must_use]
pub fn text(snapshot: &Snapshot, saved: Option<&str>) -> String {
    let mut lines = alloc::vec![headline(snapshot)];
    lines.extend(procs(snapshot));
    lines.extend(stuck(snapshot));
    lines.extend(alerts(snapshot));
    lines.extend(counters::lines(snapshot));
    let live = "to watch it live: turbowish top";
    lines.push(match saved {
        Some(file) => format!("full report: {file}    {live}"),
        None => live.to_string(),
    });
    lines.push(String::new());
    // The names of the process and of the file may contain any characters.
    let lines: Vec<_> = lines.iter().map(|line| sanitize::line(line)).collect();
    lines.join("\n")
}

/// Returns the whole report as JSON on one line: procs, awaits, tasks, resources, alerts,
/// counters, delays and the slowest calls.
#[must_use]
pub fn json(snapshot: &Snapshot) -> String {
    json::document(
        snapshot,
        &[
            Table::Procs,
            Table::Awaits,
            Table::Tasks,
            Table::Resources,
            Table::Alerts,
            Table::Counters,
            Table::Delays,
            Table::Slowest,
        ],
        &Options::default(),
    )
}

fn headline(snapshot: &Snapshot) -> String {
    let process = &snapshot.process;
    format!(
        "turbowish: {} pid {} ran {}; {}; {}; {}{}",
        process.name,
        process.pid,
        units::duration(process.uptime_ns, Micro::Unicode),
        in_all_polls(snapshot),
        alive(snapshot),
        lost_in_full(snapshot),
        own_cost(snapshot).map_or_else(String::new, |cost| format!("; {cost}")),
    )
}

/// The table of procs, and the line with their sums.
fn procs(snapshot: &Snapshot) -> Vec<String> {
    let rows = &snapshot.procs.rows;
    if rows.is_empty() {
        return alloc::vec![
            "no annotated function was called: put #[turbowish::instrument] on one".to_string()
        ];
    }
    let context = Context::of(snapshot);
    let durations: Vec<Column<ProcRow>> = ["run_p50", "run_p99", "hold_p50", "hold_p99", "longest"]
        .iter()
        .filter_map(|key| column::find(key))
        .collect();
    let mut heads = alloc::vec![
        Header::words("PROC", 23),
        Header::numbers("RUN%", 5),
        Header::numbers("RUN", 6),
        Header::numbers("CALLS", 6),
        Header::numbers("CANC", 5),
        Header::numbers("PANIC", 5),
    ];
    heads.extend(durations.iter().enumerate().map(|(at, column)| {
        // One more space separates the percentiles from the counts.
        Header::numbers(&*column.title, column.width + usize::from(at == 0))
    }));
    let mut text_table = TextTable::new(heads);
    let shown = shown(rows, snapshot.window_ns);
    for row in &rows[..shown] {
        let mut cells = sums(&row.proc, row.running_ns, snapshot);
        let started = row.cancelled.saturating_sub(row.never_polled);
        cells.extend([row.calls, started, row.panicked].map(units::count));
        let style = Style::default();
        cells.extend(
            durations
                .iter()
                .map(|column| aligned(column, row, &context, style)),
        );
        text_table.push(cells);
    }
    if shown < rows.len() {
        let more = format!("{} more", rows.len() - shown);
        text_table.push(sums(&more, running(&rows[shown..]), snapshot));
    }
    text_table.push(sums("total in polls", running(rows), snapshot));
    text_table.lines()
}

/// Number of procs with their own line.
fn shown(rows: &[ProcRow], window_ns: u64) -> usize {
    let small = |row: &ProcRow| units::ppb(row.running_ns, window_ns) < SMALL_PPB;
    let large = rows.iter().position(small).unwrap_or(rows.len());
    let shown = large.clamp(FIRST_ROWS, MOST_ROWS).min(rows.len());
    // "1 more" would take the same line.
    if shown + 1 == rows.len() {
        rows.len()
    } else {
        shown
    }
}

fn sums(name: &str, running_ns: u64, snapshot: &Snapshot) -> Vec<String> {
    let style = Style::default();
    alloc::vec![
        name.to_string(),
        Value::share(running_ns, snapshot.window_ns).print(style),
        Value::Duration(running_ns).print(style),
    ]
}

/// Tasks that were in a long poll, woken or waiting at the end, worst first.
fn stuck(snapshot: &Snapshot) -> Vec<String> {
    let tasks = &snapshot.tasks;
    if tasks.rows.is_empty() {
        return alloc::vec!["stuck at exit: nothing (no covered task was alive)".to_string()];
    }
    let count = tasks.matched;
    let plural = if count == 1 { "task" } else { "tasks" };
    let mut lines = alloc::vec![format!(
        "stuck at exit: {count} {plural} had not ended, worst first"
    )];
    let mut text_table = TextTable::new(alloc::vec![
        Header::words("", 0),
        Header::words("", 0),
        Header::numbers("", 0),
        Header::words("", 0),
        Header::words("", 0),
        Header::words("", 0),
        Header::words("", 0),
    ]);
    for task in tasks.rows.iter().take(WAITING_ROWS) {
        text_table.push(stands(task, &snapshot.alerts.rows));
    }
    lines.extend(
        text_table
            .lines()
            .into_iter()
            .skip(1)
            .map(|line| format!("  {line}")),
    );
    let left = count.saturating_sub(WAITING_ROWS as u64);
    if left > 0 {
        lines.push(format!("  ... {left} more"));
    }
    lines
}

/// Alerts that were active at the end, worst first, and those that were over. Without the monitor's
/// thread no alerts are detected, so the report does not claim that there are none.
fn alerts(snapshot: &Snapshot) -> Vec<String> {
    let rows = &snapshot.alerts.rows;
    let (over, active): (Vec<&Alert>, Vec<&Alert>) = rows.iter().partition(|row| row.is_over());
    let mut lines = listed("alerts:", &active, 0, |alert| alert.title.clone());
    let at = snapshot.at_unix_ns;
    let past = |alert: &Alert| {
        let (lasted, ago) = (alert.lasted_ns(), alert.ended_ago(at).unwrap_or(0));
        let [lasted, ago] = [lasted, ago].map(|ns| units::duration(ns, Micro::Unicode));
        let times = match alert.times {
            0 | 1 => format!("lasted {lasted}"),
            n => format!("{} times, the last one {lasted}", units::count(n)),
        };
        format!("{}   {times}, ended {ago} before the end", alert.title)
    };
    lines.extend(listed("ended: ", &over, snapshot.alerts_forgotten, past));
    lines
}

/// The first alerts of a list, one on a line, and how many more there are.
fn listed(
    label: &str,
    alerts: &[&Alert],
    forgotten: u64,
    told: impl Fn(&Alert) -> String,
) -> Vec<String> {
    let shown = alerts.iter().take(ALERT_ROWS).enumerate();
    let mut lines: Vec<String> = shown
        .map(|(at, alert)| {
            let label = if at == 0 { label } else { "       " };
            format!("{label} {}   {}", told(alert), alert.pitfall.docs())
        })
        .collect();
    let left = alerts.len().saturating_sub(ALERT_ROWS) as u64;
    let left = left.saturating_add(forgotten);
    if left > 0 {
        lines.push(format!("        ... {left} more"));
    }
    lines
}

/// The alerts that a task is part of: `(deadlock)`.
fn part_of(task: &TaskRow, alerts: &[Alert]) -> String {
    let this = |party: &Party| party.kind == PartyKind::Task && party.id == task.id;
    let active = alerts.iter().filter(|alert| !alert.is_over());
    let of = active.filter(|alert| alert.parties.iter().any(this));
    let mut names: Vec<&str> = of.map(|alert| alert.pitfall.title()).collect();
    names.dedup();
    if names.is_empty() {
        String::new()
    } else {
        format!("({})", names.join(", "))
    }
}

/// Name, state, duration, await point, what is awaited there, resources, and alerts of a task.
fn stands(task: &TaskRow, alerts: &[Alert]) -> Vec<String> {
    let since = match task.state {
        TaskState::Polling => Value::Open(task.since_ns),
        TaskState::Ready | TaskState::Waiting | TaskState::Paused => Value::Duration(task.since_ns),
    };
    let place = leaf(&task.stack).and_then(|call| call.place.as_ref());
    let expr = place.map_or("", |at| &at.expr);
    alloc::vec![
        task.name().0.to_string(),
        task.state.word().to_string(),
        since.print(Style::default()),
        place.map_or_else(|| format!("in {}", task.root), span),
        one_line(expr),
        task.waits_on
            .iter()
            .map(|claim| claim.resource.as_str())
            .collect::<Vec<_>>()
            .join(", "),
        part_of(task, alerts),
    ]
}

/// `src/conn.rs:88:9-33`, or `src/conn.rs:88:9-90:4` over several lines; `src/conn.rs:88` if
/// columns are unknown, as for tasks spawned without a macro.
#[must_use]
pub fn span(at: &Place) -> String {
    let Place {
        file,
        line,
        column,
        end_line,
        end_column,
        ..
    } = at;
    if *column == 0 {
        format!("{file}:{line}")
    } else if line == end_line {
        format!("{file}:{line}:{column}-{end_column}")
    } else {
        format!("{file}:{line}:{column}-{end_line}:{end_column}")
    }
}

/// An expression of several lines on one line.
#[must_use]
pub fn one_line(expr: &str) -> String {
    expr.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
