//! The report at the end, however it comes: the guard's drop, `std::process::exit`, SIGTERM. Once.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use turbowish_model::query::{Query, Rows};
use turbowish_model::report;
use turbowish_model::snapshot::Snapshot;

use crate::init::monitor;
use crate::settings::Report;
use crate::stderr::say;
use crate::{own, switch};

/// What is wanted, and by which process: a child of `fork` leaves no report.
static WANTED: Mutex<(Report, u32)> = Mutex::new((Report::None, 0));

/// Remembers what is wanted at the end, and listens for SIGTERM if anything is.
pub(crate) fn watch(report: &Report) {
    *WANTED.lock().unwrap_or_else(PoisonError::into_inner) = (report.clone(), std::process::id());
    #[cfg(unix)]
    if *report != Report::None {
        crate::signals::watch();
    }
}

/// Writes the report if one is wanted and none was written.
pub(crate) fn leave() {
    if switch::is_child() {
        return;
    }
    // Held until all is written: whoever else ends the process waits here for it.
    let mut wanted = WANTED.lock().unwrap_or_else(PoisonError::into_inner);
    let owned = wanted.1 == std::process::id();
    let path = match std::mem::take(&mut wanted.0) {
        Report::File(path) if owned => Some(path),
        Report::Text if owned => None,
        _ => return,
    };
    own::calibrate();
    let Some(Ok(snapshot)) = monitor().map(|monitor| monitor.snapshot(&everything())) else {
        return;
    };
    let written = path.as_deref().filter(|path| match write(path, &snapshot) {
        Ok(()) => true,
        Err(error) => {
            say(&format!(
                "the report was not written to {}: {error}",
                path.display()
            ));
            false
        }
    });
    let shown = written.map(|path| path.display().to_string());
    let _ = io::stderr().write_all(report::text(&snapshot, shown.as_deref()).as_bytes());
}

fn everything() -> Query {
    let all = Some(Rows {
        limit: u32::MAX,
        ..Rows::default()
    });
    Query {
        alerts: None,
        window_ns: None,
        procs: all.clone(),
        tasks: all.clone(),
        awaits: all.clone(),
        resources: all.clone(),
        counters: all,
    }
}

fn write(path: &Path, snapshot: &Snapshot) -> io::Result<()> {
    let mut text = report::json(snapshot);
    text.push('\n');
    create(path)?.write_all(text.as_bytes())
}

/// A new file, or in place of an earlier report; an environment variable must not let a program
/// overwrite anything else.
fn create(path: &Path) -> io::Result<File> {
    let new = OpenOptions::new().write(true).create_new(true).open(path);
    match new {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let mut head = String::new();
            let is_file = fs::symlink_metadata(path)?.is_file();
            File::open(path)?
                .take(REPORT_HEAD.len() as u64)
                .read_to_string(&mut head)?;
            if is_file && head == REPORT_HEAD {
                return OpenOptions::new().write(true).truncate(true).open(path);
            }
            Err(io::Error::other(
                "the file is there and is not a report; remove it or name another",
            ))
        }
        other => other,
    }
}

const REPORT_HEAD: &str = "{\"schema\":1,\"process\":";

dtor::declarative::dtor! {
    #[dtor(unsafe)]
    fn at_exit() {
        leave();
    }
}
