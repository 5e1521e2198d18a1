//! `turbowish export`: a recording, or what a process keeps, in the formats of other programs.

use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;

use turbowish_model::snapshot::units;

use crate::args::{ExportArgs, FormatArgs, PastArgs};
use crate::export::ctf::TraceTotals;
use crate::export::ctf::folder::TraceFolder;
use crate::export::folded::FoldedTime;
use crate::export::{self, CallTotals, ExportError, ExportRange, Labels, Survey, Timeline, Totals};
use crate::failure::{Failure, note, print_lines};
use crate::plain_text::local;
use crate::recording::{self, Bytes, Moment, Recording};
use crate::source;

/// Runs the command.
///
/// # Errors
/// The target cannot be reached, has no polls in the range, or the output cannot be written.
pub(crate) fn run(args: &ExportArgs, token: Option<&str>) -> Result<(), Failure> {
    let (name, survey) = survey(open(args, token)?)?;
    let range = range(args, survey.span(), &name)?;
    let unreadable = |fault| recording::failed(&name, fault);
    let (timeline, labels) = survey.timeline(range).map_err(unreadable)?;
    if timeline.threads().len() == 0 {
        return Err(Failure::usage(format!(
            "{name} has no polls from {} to {}",
            local(range.from),
            local(range.to)
        )));
    }
    let mut export = Export {
        name,
        format: args.format,
        timeline,
        labels,
    };
    let written = export.write(&args.out, args.force)?;
    tell(&written, &args.out, range)
}

/// The recording, or what a process keeps.
fn open(args: &ExportArgs, token: Option<&str>) -> Result<Recording, Failure> {
    let origin = source::origin(args.target.as_deref(), &PastArgs::default(), token)?;
    source::whole(origin, source::since(args.last))
}

/// The name of a recording, and what it has. Says what of it cannot be read.
///
/// # Errors
/// It has neither polls nor events, or cannot be read.
pub(super) fn survey(recording: Recording) -> Result<(String, Survey<Box<dyn Bytes>>), Failure> {
    let name = recording.name.clone();
    let survey = Survey::of(recording.into_reader());
    let survey = survey.map_err(|fault| recording::failed(&name, fault))?;
    if !survey.has_steps() {
        return Err(Failure::usage(export::has_no_steps(&name)));
    }
    if survey.faults() > 0 {
        note(&export::unread(&name, survey.faults()));
    }
    Ok((name, survey))
}

/// The range that was asked for.
fn range(args: &ExportArgs, span: Option<ExportRange>, name: &str) -> Result<ExportRange, Failure> {
    let ExportRange { from, to } = span.unwrap_or(ExportRange { from: 0, to: 0 });
    let last = args.last.map(|last| {
        let last = u64::try_from(last.as_nanos()).unwrap_or(u64::MAX);
        Moment::BeforeEnd(last)
    });
    let instant = |moment: Moment| moment.unix_ns(from, to);
    // What is earlier than the beginning is the beginning.
    let begin = args.from.or(last).map_or(Some(from), instant).unwrap_or(0);
    let end = args.to.map_or(Some(to), instant).unwrap_or(0);
    let asked = ExportRange {
        from: begin.max(from),
        to: end.min(to),
    };
    if asked.from > asked.to {
        return Err(Failure::usage(format!(
            "nothing of {name} is in that range: it begins at {} and ends at {}",
            local(from),
            local(to)
        )));
    }
    Ok(asked)
}

/// What is written.
struct Export {
    name: String,
    format: FormatArgs,
    timeline: Timeline<Box<dyn Bytes>>,
    labels: Labels,
}

/// What was written.
struct Written {
    totals: Totals,
    bytes: u64,
    /// Of a trace in a folder.
    trace: Option<TraceTotals>,
}

impl Export {
    /// Writes the file or the folder. What could not be written to its end is removed.
    fn write(&mut self, path: &Path, force: bool) -> Result<Written, Failure> {
        if self.format.ctf {
            return self.folder(path, force);
        }
        let file = recording::create(path, force).map_err(|cause| cannot_create(path, &cause))?;
        let written = self.to(file);
        if written.is_err() && path.is_file() {
            // The failure itself is what is told.
            let _ = fs::remove_file(path);
        }
        Ok(Written {
            totals: written.map_err(|fault| self.failed(path, fault))?,
            bytes: path.metadata().map_or(0, |about| about.len()),
            trace: None,
        })
    }

    fn folder(&mut self, path: &Path, force: bool) -> Result<Written, Failure> {
        let folder = TraceFolder::create(path, force);
        let folder = folder.map_err(|cause| cannot_create(path, &cause))?;
        let written = export::ctf::write(&mut self.timeline, &self.labels, &folder);
        if written.is_err() {
            folder.remove();
        }
        let (totals, trace) = written.map_err(|fault| self.failed(path, fault))?;
        Ok(Written {
            totals,
            bytes: folder.bytes(),
            trace: Some(trace),
        })
    }

    fn to(&mut self, file: File) -> Result<Totals, ExportError> {
        let mut out = BufWriter::new(file);
        let Self {
            timeline, labels, ..
        } = self;
        let totals = match self.format {
            FormatArgs { folded: true, .. } => {
                export::folded::write(timeline, labels, FoldedTime::Polls, &mut out)?
            }
            FormatArgs {
                folded_waiting: true,
                ..
            } => export::folded::write(timeline, labels, FoldedTime::Waiting, &mut out)?,
            FormatArgs { pprof: true, .. } => export::pprof::write(timeline, labels, &mut out)?,
            FormatArgs { perfetto: true, .. } => {
                export::perfetto::write(timeline, labels, &mut out)?
            }
            // The command line asks for one of them.
            FormatArgs { .. } => export::chrome::write(timeline, labels, &mut out)?,
        };
        out.flush()?;
        Ok(totals)
    }

    fn failed(&self, path: &Path, fault: ExportError) -> Failure {
        match fault {
            ExportError::Read(fault) => recording::failed(&self.name, fault),
            ExportError::Write(cause) => {
                Failure::local(&format!("cannot write {}", path.display()), &cause)
            }
        }
    }
}

fn cannot_create(path: &Path, cause: &std::io::Error) -> Failure {
    let name = path.display();
    match cause.kind() {
        ErrorKind::AlreadyExists => Failure::Local(format!(
            "{name} exists; another name, or --force to overwrite it"
        )),
        _ => Failure::local(&format!("cannot create {name}"), cause),
    }
}

/// `x.json: 2345678 polls of calls, 12 of their events lost`; nothing if none were recorded.
fn calls(name: &str, totals: CallTotals) -> Option<String> {
    if totals.faults > 0 {
        let chunks = recording::counted(totals.faults, "chunk");
        note(&format!("{chunks} of events of calls cannot be read"));
    }
    if totals.overlaps > 0 {
        let events = units::count(totals.overlaps);
        note(&format!(
            "{events} events of calls are left out: recordings were joined, or the clock was set back"
        ));
    }
    let (polls, lost) = (units::count(totals.polls), units::count(totals.lost));
    (totals.polls > 0 || totals.lost > 0)
        .then(|| format!("{name}: {polls} polls of calls, {lost} of their events lost"))
}

/// `x.json: 61234 polls, 12 lost, 2026-11-24 03:55:47 .. 2026-11-24 03:56:46, 14MiB`
fn tell(written: &Written, path: &Path, range: ExportRange) -> Result<(), Failure> {
    let totals = written.totals;
    if totals.overlaps > 0 {
        note(&export::overlapping(totals.overlaps));
    }
    let name = path.display();
    let mut lines = vec![format!(
        "{name}: {} polls, {} lost, {} .. {}, {}",
        units::count(totals.polls),
        units::count(totals.lost),
        local(range.from),
        local(range.to),
        units::bytes(written.bytes)
    )];
    lines.extend(calls(&name.to_string(), totals.calls));
    if let Some(trace) = written.trace {
        if trace.left_out > 0 {
            note(&format!(
                "{} wakes and marks are left out: too many events lie between them and later ones",
                units::count(trace.left_out)
            ));
        }
        // In full: it is what a reader of the trace counts.
        let (events, streams) = (trace.events, trace.streams);
        lines.push(format!("{name}: {events} events in {streams} streams"));
    }
    print_lines(&lines)
}
