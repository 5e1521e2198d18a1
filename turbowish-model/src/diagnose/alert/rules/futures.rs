//! Rules for futures: those that fail unnoticed, those that are large, and those that are never
//! awaited.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::diagnose::alert::finding::{Finding, Scan, Subject};
use crate::diagnose::alert::limits::Limit;
use crate::diagnose::alert::table::PitfallRule;
use crate::diagnose::alert::words::{self, many};
use crate::diagnose::situation::{Ended, Proc};
use crate::ordered::Map;
use crate::snapshot::Place;
use crate::snapshot::Spot;
use crate::snapshot::alert::{Party, PartyKind, Severity};
use crate::snapshot::pitfall::Pitfall;
use crate::snapshot::units;
use crate::sorting;

pub(in crate::diagnose::alert) const DETACHED_FAILURE: PitfallRule = PitfallRule {
    severity: Severity::Alert,
    lingers: true,
    why: "{task} panicked and its handle was dropped: nobody [gets|got] the error, and the task's work is no longer done.",
    fixes: &[
        "{panicked}: the panic is here",
        "read what the panic hook wrote, by default on stderr{hint}",
        "{spawned}: keep the handle and await it, or put the task into a JoinSet",
        "if it must always run, restart it when its handle returns an error",
    ],
    limits: &[Limit::Linger],
    ..PitfallRule::new(Pitfall::DetachedFailure)
};

pub(in crate::diagnose::alert) const LARGE_FUTURE: PitfallRule = PitfallRule {
    why: "Each future of {proc} is {size}: it is moved when it is created, joined or spawned, and a few nested ones overflow a stack.",
    fixes: &[
        "{largest}: Box::pin it",
        "{proc}: put large buffers that live across an await on the heap (Vec, Box<[u8]>)",
        "end the scope of large values before the next await",
    ],
    limits: &[Limit::LargeFutureWarn, Limit::LargeFutureNote],
    ..PitfallRule::new(Pitfall::LargeFuture)
};

pub(in crate::diagnose::alert) const NEVER_POLLED: PitfallRule = PitfallRule {
    lingers: true,
    why: "A future does nothing until it is polled. {proc} was called, but its future was dropped without a poll: none of its body ran.",
    fixes: &["{at}: await the future, or spawn it"],
    limits: &[Limit::Linger],
    ..PitfallRule::new(Pitfall::NeverPolled)
};

/// Detached tasks that panicked, grouped by root proc.
pub(in crate::diagnose::alert) fn detached(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    let mut roots: Map<&str, Vec<&Ended>> = Map::new();
    let ended = scan.situation.ended.iter();
    for ended in ended.filter(|ended| ended.detached == Some(true)) {
        roots.entry(&ended.root).or_default().push(ended);
    }
    for (root, mut tasks) in roots {
        sorting::by_key(&mut tasks, |ended| (ended.at, ended.id));
        if let (Some(first), Some(last)) = (tasks.first(), tasks.last()) {
            found.push(panicked(root, &tasks, first.at, last));
        }
    }
}

/// Maximum number of parties named in one alert.
const NAMED: usize = 16;

fn panicked(root: &str, tasks: &[&Ended], since: u64, last: &Ended) -> Finding {
    let place = last.place.as_ref();
    let at = place.map_or_else(String::new, |place| {
        format!(" at {}", words::place(Some(place)))
    });
    let who = match tasks.len() {
        1 => format!("{} panicked{at}", last.name),
        n => format!(
            "{} of {root} panicked, {} last{at}",
            many(n as u64, "task"),
            last.name
        ),
    };
    let panic = last.panic.as_ref();
    let message = panic.and_then(|panic| panic.message.as_deref());
    let message = message.map_or_else(String::new, |message| format!(" ({message})"));
    let title = format!("detached failure: {who}{message}, and no code saw the error");
    let mut finding =
        Finding::new(Pitfall::DetachedFailure, since).about(Subject::Named(String::from(root)));
    let parties = tasks.iter().rev().take(NAMED).map(|ended| Party {
        kind: PartyKind::Task,
        id: ended.id,
        name: ended.name.clone(),
    });
    finding.alert.parties.extend(parties);
    let spawned = last.spawned.as_ref();
    let spawned = spawned.map(|spot| words::line(&spot.file, spot.line));
    let hint = match panic {
        Some(_) => ": it may have a backtrace",
        None => ": the message and the place; turbowish::record_panics() shows them here",
    };
    let panicked = panic.and_then(|panic| panic.place.as_ref());
    let panicked = panicked.map(|spot| words::line(&spot.file, spot.line));
    let mut values = Vec::from([("task", last.name.as_str()), ("hint", hint)]);
    values.extend(panicked.as_ref().map(|at| ("panicked", at.as_str())));
    values.extend(
        spawned
            .as_ref()
            .map(|spawned| ("spawned", spawned.as_str())),
    );
    finding
        .at(root, place)
        .titled(title)
        .summed("a task panicked, and its handle was dropped")
        .explained(&values)
}

/// Procs with large futures.
pub(in crate::diagnose::alert) fn large(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    let (warn, note) = (
        scan.limit(Limit::LargeFutureWarn),
        scan.limit(Limit::LargeFutureNote),
    );
    for proc in &scan.situation.procs {
        let is_note = note > 0 && proc.future_bytes >= note;
        let is_warning = warn > 0 && proc.future_bytes >= warn;
        if !is_note && !is_warning {
            continue;
        }
        // A future that is large only because of what it awaits is a consequence of that.
        let inner = proc.parts.iter().any(|(part, bytes)| {
            *bytes >= warn
                && proc.future_bytes.saturating_sub(*bytes) < warn
                && scan
                    .situation
                    .procs
                    .iter()
                    .any(|other| other.path == *part && other.path != proc.path)
        });
        if inner {
            continue;
        }
        let size = units::bytes(proc.future_bytes);
        let parts: Vec<String> = proc
            .parts
            .iter()
            .take(3)
            .map(|(part, bytes)| format!("{part} {}", units::bytes(*bytes)))
            .collect();
        let made = if parts.is_empty() {
            String::new()
        } else {
            format!(": {}", parts.join(", "))
        };
        let title = format!("large future: {} is {size}", proc.path);
        let mut values = Vec::from([("proc", proc.path.as_str()), ("size", &size)]);
        values.extend(
            proc.parts
                .first()
                .map(|(part, _)| ("largest", part.as_str())),
        );
        let mut finding = Finding::undated(Pitfall::LargeFuture, scan.now())
            .of_proc(&proc.path)
            .at(&proc.path, Some(&signature(&proc.spot)))
            .titled(title)
            .summed(&format!("a future is {size}{made}"))
            .explained(&values);
        if !is_warning {
            finding.alert.severity = Severity::Note;
        }
        found.push(finding);
    }
}

/// Procs whose calls are dropped without a poll.
pub(in crate::diagnose::alert) fn never_polled(scan: &Scan<'_>, found: &mut Vec<Finding>) {
    for proc in &scan.situation.procs {
        let times = match proc.lost_races {
            Some(lost) => proc.never_polled.saturating_sub(lost),
            // The number of lost races is unknown, but branches are polled at times.
            None if proc.polls == 0 => proc.never_polled,
            None => 0,
        };
        if times > 0 && scan.memory.proc_recently(proc).forgotten > 0 {
            found.push(forgotten(scan, proc, times));
        }
    }
}

fn forgotten(scan: &Scan<'_>, proc: &Proc, times: u64) -> Finding {
    let title = format!(
        "never polled: {}, {} dropped without a poll",
        proc.path,
        many(times, "call")
    );
    let at = words::line(&proc.spot.file, proc.spot.line);
    let at = format!("callers of {} ({at})", words::last(&proc.path));
    Finding::undated(Pitfall::NeverPolled, scan.now())
        .of_proc(&proc.path)
        .at(&proc.path, Some(&signature(&proc.spot)))
        .titled(title)
        .summed("a future was created and dropped")
        .explained(&[("proc", &proc.path), ("at", &at)])
}

fn signature(spot: &Spot) -> Place {
    Place {
        file: spot.file.clone(),
        line: spot.line,
        column: spot.column,
        end_line: spot.line,
        end_column: spot.column,
        expr: String::new(),
    }
}
