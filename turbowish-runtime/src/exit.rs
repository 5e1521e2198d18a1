//! Report at process exit, written once: when the guard is dropped, at `std::process::exit`, or at
//! SIGTERM.
//!
//! No failure of the report keeps the process from exiting. It is written on a thread of its own
//! ([`watched`]), a panic there is one line on stderr, and the exiting thread stops waiting when
//! the work makes no progress.

mod place;
#[cfg(unix)]
pub(crate) mod signals;
mod stream;
mod watched;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use turbowish_model::query::{Query, Rows};
use turbowish_model::snapshot::report;
use turbowish_model::snapshot::{Snapshot, Table};

use self::watched::{Step, Steps};
use crate::hot::clock;
use crate::lock::lock;
use crate::log::{say, tell};
use crate::monitor;
use crate::settings::{Report, with_pid};

/// The report at the exit of this process.
struct ExitReport {
    /// The requested report, and the start time of this process.
    wanted: Mutex<(Report, u64)>,
    /// Process ID of the process that requested it. A child of `fork` writes none, and touches no
    /// lock that may be locked there forever.
    owner: AtomicU32,
}

static REPORT: ExitReport = ExitReport {
    wanted: Mutex::new((Report::None, 0)),
    owner: AtomicU32::new(0),
};

/// Stores the requested report and, if there is one, listens for SIGTERM.
pub(crate) fn watch(report: &Report) {
    if *report == Report::None {
        return;
    }
    *lock(&REPORT.wanted) = (report.clone(), clock::unix_ns());
    REPORT.owner.store(std::process::id(), Ordering::Release);
    #[cfg(unix)]
    crate::exit::signals::watch();
}

/// Writes the report if one was requested and none was written.
pub(crate) fn leave() {
    if REPORT.owner.load(Ordering::Acquire) != std::process::id() || watched::is_inside() {
        return;
    }
    // Held until the report is written: any other thread that ends the process waits here for it.
    let mut wanted = lock(&REPORT.wanted);
    let begun = wanted.1;
    match std::mem::take(&mut wanted.0) {
        Report::None => {}
        Report::Text => watched::run(|steps| write(None, steps)),
        Report::File(path) => watched::run(move |steps| write(Some((&path, begun)), steps)),
    }
}

fn write(to: Option<(&Path, u64)>, steps: &Steps) {
    let Some(monitor) = monitor::process() else {
        return;
    };
    monitor.calibrate();
    let Ok(snapshot) = monitor.snapshot(&everything()) else {
        return;
    };
    let written = to.and_then(|(path, begun)| match save(path, begun, &snapshot, steps) {
        Ok(written) => Some(written.display().to_string()),
        Err(error) => {
            let line = format!("the report was not written to {}: {error}", path.display());
            steps.at(Step::Stderr, || say(&line));
            None
        }
    });
    let text = report::text(&snapshot, written.as_deref());
    steps.at(Step::Stderr, || tell(&text));
}

/// Writes the report as JSON and returns the path of the file.
fn save(path: &Path, begun: u64, snapshot: &Snapshot, steps: &Steps) -> io::Result<PathBuf> {
    let path = with_pid(path);
    let mut text = report::json(snapshot);
    text.push('\n');
    if let Some(mut stream) = stream::open(&path)? {
        stream.write_all(text.as_bytes())?;
        return Ok(path);
    }
    let written = place::replace(&path, text.as_bytes(), begun, || steps.moved())?;
    if written != path {
        let line = format!(
            "another process wrote its report to {} meanwhile; the report of this process is in {}",
            path.display(),
            written.display()
        );
        steps.at(Step::Stderr, || say(&line));
    }
    Ok(written)
}

/// Every row of each table. Alerts come in any case.
fn everything() -> Query {
    let mut query = Query::default();
    for table in Table::ALL.iter().filter(|table| **table != Table::Alerts) {
        *query.rows_mut(*table) = Some(Rows {
            limit: u32::MAX,
            ..Rows::default()
        });
    }
    query
}

dtor::declarative::dtor! {
    #[dtor(unsafe)]
    fn at_exit() {
        leave();
    }
}
