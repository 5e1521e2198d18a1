//! Entry points of the fuzz targets: a saved report is read and a recording is exported. Only CTF
//! needs files.

use std::io::{self, Cursor};

use turbowish_recording::{Reader, RecordingError};

use crate::commands::diff;
use crate::export::ctf::folder::TraceFolder;
use crate::export::folded::FoldedTime;
use crate::export::{ExportError, ExportRange, Step, Survey, chrome, ctf, folded, perfetto, pprof};
use crate::history::{HistorySubject, SubjectHistory};
use crate::report_file::Saved;

/// Polls and events of one input that are exported at most: a short input may hold many more.
const STEPS: usize = 10_000;

/// Reads the input as a saved report and compares it with itself.
pub fn reports(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    if let Ok(saved) = Saved::parse("input", text) {
        assert!(
            diff::is_no_worse(&saved, &saved),
            "a file is worse than itself"
        );
    }
}

/// Exports the input in each format, as a file and as the chunks that a process sends.
pub fn exports(input: &[u8]) {
    for open in [Reader::open, Reader::of_chunks] {
        let reader = || open(Cursor::new(input));
        match all_formats(reader) {
            Ok(()) | Err(ExportError::Read(_)) => {}
            Err(ExportError::Write(why)) => panic!("a sink takes everything: {why}"),
        }
    }
}

/// Exports a recording in each format, and reads the histories of what its first steps are of.
fn all_formats<'a>(
    reader: impl Fn() -> Result<Reader<Cursor<&'a [u8]>>, RecordingError>,
) -> Result<(), ExportError> {
    let (calls, _) = reader()?.recorded_calls()?;
    calls.into_iter().for_each(drop);
    let survey = Survey::of(reader()?)?;
    let Some(span) = survey.span() else {
        return Ok(());
    };
    let (mut timeline, labels) = survey.timeline(span)?;
    let (mut steps, mut tasks) = (0, Vec::new());
    let totals = timeline.each(|step| {
        steps += 1;
        match step {
            Step::Poll { poll, .. } if tasks.len() < 2 => tasks.push(poll.task),
            Step::Event { event, .. } if tasks.len() < 4 => tasks.push(event.task),
            _ => {}
        }
        Ok(())
    })?;
    if steps > STEPS {
        return Ok(());
    }
    let out = &mut io::sink();
    let folder = tempfile::tempdir()?;
    let trace = TraceFolder::create(&folder.path().join("trace"), false)?;
    let told = [
        chrome::write(&mut timeline, &labels, out)?,
        folded::write(&mut timeline, &labels, FoldedTime::Polls, out)?,
        folded::write(&mut timeline, &labels, FoldedTime::Waiting, out)?,
        pprof::write(&mut timeline, &labels, out)?,
        perfetto::write(&mut timeline, &labels, out)?,
        ctf::write(&mut timeline, &labels, &trace)?.0,
    ];
    assert_eq!(told, [totals; 6], "each format has the same");
    let halves = [ExportRange::ALL, half(span)];
    for (task, range) in tasks
        .iter()
        .flat_map(|task| halves.map(|half| (*task, half)))
    {
        for subject in [HistorySubject::Task(task), HistorySubject::Resource(task)] {
            let history = SubjectHistory::read(reader()?, "input", subject, range)?;
            let again = history.clone().after(&history);
            assert_eq!(again.range, history.range);
        }
    }
    Ok(())
}

/// The second half of a range.
const fn half(span: ExportRange) -> ExportRange {
    ExportRange {
        from: span.from + (span.to - span.from) / 2,
        ..span
    }
}
