//! The verdict as text: a line for each violation with the row, its value and the limit; then a
//! summary.

use turbowish_model::snapshot::alert::Alert;

use super::Checks;
use super::limit::{Broken, Outcome};
use crate::text::{self, printed};

/// Number of rows named in addition to the worst one.
const NAMED: usize = 3;

pub(super) fn report(checks: &Checks) -> String {
    let outcomes: Vec<Outcome> = checks.limits.iter().map(|limit| limit.outcome()).collect();
    let mut failures: Vec<(String, String)> = outcomes
        .iter()
        .filter(|outcome| !outcome.holds())
        .map(|outcome| (outcome.text.clone(), broken(outcome)))
        .collect();
    if let Some(alerts) = &checks.alerts {
        let text = alerts.text();
        failures.extend(alerts.seen.values().map(|it| (text.clone(), alert(it))));
    }
    let width = failures.iter().map(|(what, _)| text::width(what)).max();
    let width = width.unwrap_or(0);
    let mut lines: Vec<String> = failures
        .iter()
        .map(|(what, who)| format!("FAIL  {}   {who}", text::left(what, width)))
        .collect();
    let several = outcomes.len() > 1;
    lines.extend(outcomes.iter().map(|outcome| summary(outcome, several)));
    if let Some(alerts) = &checks.alerts
        && alerts.seen.is_empty()
    {
        lines.push(alerts.text());
    }
    lines.push(String::new());
    printed(&lines)
}

/// `kv::snapshot::write 38.4ms (src/snapshot.rs:90); also kv::snapshot::run, which holds the same
/// polls`
fn broken(outcome: &Outcome) -> String {
    let Some((worst, others)) = outcome.broken.split_first() else {
        return match outcome.rows() {
            0 => format!("there are no {} to check", outcome.table),
            _ => format!("no {} has a sample to check", singular(outcome.table)),
        };
    };
    let short = |one: &Broken| format!("{} {}", one.row, one.shown);
    let mut text = short(worst);
    if let Some(place) = &worst.place {
        text += &format!(" ({place})");
    }
    if !others.is_empty() {
        let also = |other: &Broken| {
            if other.value == worst.value && worst.polled_by.contains(&other.row) {
                format!("{}, which holds the same polls", other.row)
            } else {
                short(other)
            }
        };
        let named: Vec<String> = others.iter().take(NAMED).map(also).collect();
        text += &format!("; also {}", named.join(", "));
    }
    match others.len().saturating_sub(NAMED) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// `warning: long poll 38.4ms: kv::snapshot::write, 44 polls > 10ms (turbowish explain long-poll)`
fn alert(alert: &Alert) -> String {
    format!(
        "{}: {} ({})",
        alert.severity.word(),
        alert.title,
        alert.pitfall.docs()
    )
}

/// `14 of 17 procs are within the limit, 1 has no sample`
fn summary(outcome: &Outcome, several: bool) -> String {
    let mut text = if several {
        format!("{}: ", outcome.text)
    } else {
        String::new()
    };
    text += &match outcome.rows() {
        0 => format!("there are no {}", outcome.table),
        rows => format!(
            "{} of {rows} {} {} within the limit",
            outcome.within,
            if rows == 1 {
                singular(outcome.table)
            } else {
                outcome.table
            },
            if outcome.within == 1 { "is" } else { "are" },
        ),
    };
    match outcome.no_sample {
        0 => {}
        1 => text += ", 1 has no sample",
        n => text += &format!(", {n} have no sample"),
    }
    match outcome.unknown {
        0 => {}
        n => text += &format!(", {n} unknown"),
    }
    match outcome.left_out {
        0 => text,
        n => format!("{text}, {n} were not sent"),
    }
}

/// `proc` of `procs`.
fn singular(table: &str) -> &str {
    table.strip_suffix('s').unwrap_or(table)
}
