//! Folded stacks: `root;..;innermost N` on each line, for flame graphs. N is in nanoseconds.

use std::collections::BTreeMap;
use std::io::{Read, Seek, Write};

use super::stacks::{self, StackFrame};
use super::timeline::Totals;
use super::{ExportError, Labels, Timeline};

/// What is added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoldedTime {
    /// Polls, by their paths.
    Polls,
    /// Waiting of tasks, by the chains of their calls and the await point.
    Waiting,
}

/// Writes a timeline.
///
/// # Errors
/// The recording cannot be read, or the output takes no bytes.
pub(crate) fn write<R: Read + Seek>(
    timeline: &mut Timeline<R>,
    labels: &Labels,
    time: FoldedTime,
    out: &mut dyn Write,
) -> Result<Totals, ExportError> {
    let (sums, totals) = stacks::sums(timeline)?;
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for (stack, times) in sums {
        let ns = match time {
            FoldedTime::Polls => times.running_ns,
            FoldedTime::Waiting => times.waiting_ns,
        };
        if ns > 0 {
            let sum = lines.entry(joined(&stack.frames(labels))).or_default();
            *sum = sum.saturating_add(ns);
        }
    }
    for (stack, ns) in lines {
        writeln!(out, "{stack} {ns}")?;
    }
    Ok(totals)
}

/// Frames in one line: a semicolon stands between two, so there is none in a frame.
fn joined(frames: &[StackFrame]) -> String {
    let frames = frames.iter().map(|frame| frame.name.replace(';', ","));
    frames.collect::<Vec<_>>().join(";")
}
