//! Folded stacks: `root;..;innermost N` on each line, for flame graphs. N is in nanoseconds.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Seek, Write};

use turbowish_recording::PollEvent;

use super::labels::SEVERAL;
use super::timeline::{Step, Totals};
use super::waits::Waits;
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
    // By path or chain, and the function of the task's root: a poll with it, and nanoseconds.
    let mut sums: HashMap<(u32, String), (PollEvent, u64)> = HashMap::new();
    let mut waits = Waits::default();
    let totals = timeline.each(|step| {
        let wait = waits.step(&step);
        let Step::Poll { poll, .. } = step else {
            return Ok(());
        };
        let (number, ns) = match (time, wait) {
            (FoldedTime::Polls, _) => (poll.path, poll.hold_ns),
            (FoldedTime::Waiting, Some(wait)) => (wait.chain, wait.woken - wait.from),
            (FoldedTime::Waiting, None) => return Ok(()),
        };
        let root = labels.root(poll.task);
        let (_, sum) = sums.entry((number, root)).or_insert((poll, 0));
        *sum += ns;
        Ok(())
    })?;
    let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
    for ((number, root), (poll, ns)) in sums {
        let stack = match time {
            FoldedTime::Polls => polls(labels, &poll),
            FoldedTime::Waiting => waiting(labels, number, root),
        };
        *stacks.entry(stack).or_default() += ns;
    }
    for (stack, ns) in stacks.iter().filter(|(_, ns)| **ns > 0) {
        writeln!(out, "{stack} {ns}")?;
    }
    Ok(totals)
}

fn polls(labels: &Labels, poll: &PollEvent) -> String {
    let path = labels.path(poll);
    joined(path.iter().map(|call| labels.proc(call.proc)))
}

fn waiting(labels: &Labels, chain: u32, root: String) -> String {
    let calls = labels.chain(chain);
    let Some(last) = calls.last() else {
        return joined([root, SEVERAL.to_owned()].into_iter());
    };
    let procs = calls.iter().map(|call| labels.proc(call.proc));
    joined(procs.chain(labels.place(*last)))
}

/// Frames in one line: a semicolon stands between two, so there is none in a frame.
fn joined(frames: impl Iterator<Item = String>) -> String {
    let frames = frames.map(|frame| frame.replace(';', ","));
    frames.collect::<Vec<_>>().join(";")
}
