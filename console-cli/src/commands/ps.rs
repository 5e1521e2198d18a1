//! `turbowish ps`: every process of this user that runs TurboWish, one per line, and those that
//! have died and left a recording.

use turbowish_model::query::Query;
use turbowish_model::snapshot::column;
use turbowish_model::snapshot::report;
use turbowish_model::snapshot::text_table::{Header, TextTable};
use turbowish_model::snapshot::units::{self, Micro, SECOND};
use turbowish_model::snapshot::{Accounting, Snapshot};
use turbowish_wire::client::{ClientError, Connection, Found, Target};

use super::recover;
use crate::failure::{Failure, note, print_lines};
use crate::plain_text;
use crate::source;

/// Runs the command; an empty list is a valid answer.
///
/// # Errors
/// Processes cannot be listed, or stdout cannot be written to.
pub(crate) fn run() -> Result<(), Failure> {
    source::runtime()?.block_on(async {
        let found = source::list().await.found;
        let left = left(&found);
        if found.is_empty() {
            note(&source::nothing_runs());
            return if left.is_empty() {
                Ok(())
            } else {
                print_lines(&left)
            };
        }
        let mut text_table = TextTable::new(vec![
            Header::words("NAME", 6),
            Header::numbers("PID", 6),
            Header::numbers("UP", 6),
            Header::words("STATE", 8),
            Header::numbers("POLLS%", 6),
            Header::numbers("TASKS", 5),
            Header::words("ALERTS", 9),
            Header::words("COMMAND", 0),
        ]);
        for found in found {
            text_table.push(line(found).await);
        }
        let mut lines = text_table.lines();
        lines.extend(left);
        print_lines(&lines)
    })
}

/// A line for each recording of a process that is not among the living.
fn left(found: &[Found]) -> Vec<String> {
    let is_found = |pid| found.iter().any(|found| found.pid == pid);
    let dead = recover::recordings().into_iter();
    let dead = dead.filter(|recording| !recording.lives && !is_found(recording.pid));
    let lines = dead.filter_map(|recording| {
        let (from, to) = recover::span(&recording)?;
        let pid = recording.pid;
        let (from, to) = (plain_text::clock(from), plain_text::clock(to));
        Some(format!(
            "{pid}  died, recording of {from} .. {to}  turbowish recover {pid}"
        ))
    });
    lines.collect()
}

async fn line(found: Found) -> Vec<String> {
    let pid = found.pid;
    match header(found).await {
        Ok(snapshot) => cells(&snapshot),
        Err(error) => {
            note(&format!("process {pid}: {error}"));
            let unknown = || units::UNKNOWN.to_owned();
            let name = match &error {
                ClientError::Mismatch { name, .. } => name.clone(),
                _ => unknown(),
            };
            let state = state(&error).to_owned();
            vec![
                name,
                pid.to_string(),
                unknown(),
                state,
                unknown(),
                unknown(),
                unknown(),
                unknown(),
            ]
        }
    }
}

const fn state(error: &ClientError) -> &'static str {
    match error {
        ClientError::Silent { .. } => "silent",
        ClientError::Mismatch { .. } => "mismatch",
        ClientError::Crowded { .. } => "crowded",
        _ => "gone",
    }
}

/// The header of a process's snapshot, without rows.
async fn header(found: Found) -> Result<Snapshot, ClientError> {
    found.answer?;
    let query = Query {
        window_ns: Some(10 * SECOND),
        ..Query::default()
    };
    Connection::connect(&Target::Socket(found.socket))
        .await?
        .snapshot(&query)
        .await
}

/// `2 alerts`: the number of alerts of the highest severity; blank if there are none.
pub(crate) fn alerts(snapshot: &Snapshot) -> String {
    if snapshot.process.accounting == Accounting::Disarmed {
        return units::NO_SAMPLE.to_owned();
    }
    let all = column::severity_counts(&snapshot.alerts.rows);
    all.split(", ").next().unwrap_or_default().to_owned()
}

fn cells(snapshot: &Snapshot) -> Vec<String> {
    let process = &snapshot.process;
    let busy = snapshot.workers.iter().map(|worker| worker.busy_ns).sum();
    let (state, polls, tasks) = match process.accounting {
        Accounting::Armed => (
            "armed",
            units::share(units::ppb(busy, snapshot.window_ns)),
            units::count(report::covered(snapshot)),
        ),
        Accounting::Disarmed => (
            "disarmed",
            units::NO_SAMPLE.to_owned(),
            units::NO_SAMPLE.to_owned(),
        ),
    };
    vec![
        process.name.clone(),
        process.pid.to_string(),
        units::duration(process.uptime_ns, Micro::Unicode),
        state.to_owned(),
        polls,
        tasks,
        alerts(snapshot),
        process.command.clone(),
    ]
}
