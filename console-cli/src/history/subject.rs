//! The history of one task or resource, for its record.

use std::io::{Read, Seek};

use turbowish_recording::{Reader, RecordingError};

use super::{HistoryLine, HistoryLines, HistoryScope, HistorySubject};
use crate::export::{ExportError, ExportRange, Survey, overlapping, unread};

/// The most lines of a record: those that ended last.
const SUBJECT_LINES: usize = 50;

/// What a task did, or what was done with a resource, in a stretch of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SubjectHistory {
    /// In the order of their beginnings.
    pub(crate) lines: Vec<HistoryLine>,
    /// Number of lines that ended before these, in the same time; `None` if it is unknown.
    pub(crate) left_out: Option<usize>,
    /// The time that was looked through.
    pub(crate) range: ExportRange,
    /// What of it cannot be read, or is left out.
    pub(crate) notes: Vec<String>,
}

impl SubjectHistory {
    /// Reads what ended in a range, and the losses that reach into it. Nothing else is decoded.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub(crate) fn read<R: Read + Seek>(
        reader: Reader<R>,
        name: &str,
        subject: HistorySubject,
        range: ExportRange,
    ) -> Result<Self, RecordingError> {
        let survey = Survey::within(reader, range)?;
        let faults = survey.faults();
        let (mut timeline, labels) = survey.timeline(range)?;
        let scope = HistoryScope::Subject(subject);
        let mut lines = HistoryLines::new(scope, SUBJECT_LINES, labels).until(range.to);
        let read = timeline.each(|step| {
            lines.add(&step);
            Ok(())
        });
        let overlaps = match read {
            Ok(totals) => totals.overlaps,
            Err(ExportError::Read(fault)) => return Err(fault),
            Err(ExportError::Write(fault)) => return Err(fault.into()),
        };
        let mut notes = Vec::new();
        if faults > 0 {
            notes.push(unread(name, faults));
        }
        if overlaps > 0 {
            notes.push(overlapping(overlaps));
        }
        let found = lines.end();
        Ok(Self {
            lines: found.lines,
            left_out: Some(found.dropped),
            range,
            notes,
        })
    }

    /// The same, with what was read before of the time before. Where both have been at the same
    /// time, this one counts: it was read later.
    pub(crate) fn after(mut self, earlier: &Self) -> Self {
        let begin = self.range.from;
        let left_out = earlier.left_out_before(begin);
        let is_before = |line: &&HistoryLine| line.end() < begin;
        let before = earlier.lines.iter().filter(is_before).cloned();
        self.lines.retain(|line| line.end() >= begin);
        let mut lines: Vec<HistoryLine> = before.chain(self.lines).collect();
        lines.sort_by_key(HistoryLine::end);
        let more = lines.len().saturating_sub(SUBJECT_LINES);
        lines.drain(..more);
        lines.sort_by_key(|line| line.at);
        self.lines = lines;
        let both = self.left_out.zip(left_out);
        self.left_out = both.map(|(own, earlier)| own + earlier + more);
        self.range.from = earlier.range.from.min(begin);
        self
    }

    /// Number of lines left out that ended before an instant. Each of them ended no later than
    /// those that are kept.
    fn left_out_before(&self, instant: u64) -> Option<usize> {
        let first = self.lines.iter().map(HistoryLine::end).min();
        self.left_out
            .filter(|&left_out| left_out == 0 || first.is_some_and(|end| end < instant))
    }
}

#[cfg(test)]
mod tests;
