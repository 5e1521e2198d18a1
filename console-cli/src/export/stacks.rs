//! Stacks: the time of polls by the path of their calls, and the time that tasks were ready or
//! waited by the chain of theirs.

use std::collections::HashMap;
use std::io::{Read, Seek};
use std::ops::AddAssign;

use turbowish_recording::CallName;

use super::labels::{SEVERAL, UNKNOWN, root_of};
use super::timeline::{Step, Totals};
use super::waits::Waits;
use super::{ExportError, Labels, Timeline};

/// The calls of a task, by their numbers in the recording. `root` is the function of its root, if
/// the task is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stack {
    /// The path of a poll.
    Path { path: u32, root: Option<u32> },
    /// The chain of calls in which a task waited; 0 if that is not one chain.
    Chain { chain: u32, root: Option<u32> },
    /// A task of which is not known where it was.
    Root(Option<u32>),
}

/// What a stack adds up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StackTimes {
    pub(super) polls: u64,
    pub(super) running_ns: u64,
    pub(super) ready_ns: u64,
    pub(super) waiting_ns: u64,
}

impl AddAssign for StackTimes {
    /// A damaged recording may have any numbers.
    fn add_assign(&mut self, other: Self) {
        for (sum, more) in [
            (&mut self.polls, other.polls),
            (&mut self.running_ns, other.running_ns),
            (&mut self.ready_ns, other.ready_ns),
            (&mut self.waiting_ns, other.waiting_ns),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

/// A frame of a stack. What is not known of its place is empty or 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StackFrame {
    /// The function, or the await point.
    pub(super) name: String,
    pub(super) file: String,
    /// Where the function begins.
    pub(super) begin: u32,
    /// Where the call stands; that of the function if this is not known.
    pub(super) line: u32,
}

/// Adds up a timeline.
///
/// # Errors
/// The recording cannot be read.
pub(super) fn sums<R: Read + Seek>(
    timeline: &mut Timeline<R>,
) -> Result<(HashMap<Stack, StackTimes>, Totals), ExportError> {
    let mut sums: HashMap<Stack, StackTimes> = HashMap::new();
    let mut waits = Waits::default();
    let totals = timeline.each(|step| {
        let wait = waits.step(&step);
        let Step::Poll { poll, .. } = step else {
            return Ok(());
        };
        let root = root_of(poll.task);
        let path = Stack::Path {
            path: poll.path,
            root,
        };
        *sums.entry(path).or_default() += StackTimes {
            polls: 1,
            running_ns: poll.hold_ns,
            ..StackTimes::default()
        };
        let before = match (wait, poll.wakeup) {
            (Some(wait), _) => {
                let chain = Stack::Chain {
                    chain: wait.chain,
                    root,
                };
                Some((chain, wait.woken - wait.from, wait.to - wait.woken))
            }
            // It was spawned, or what it did before is not recorded.
            (None, Some(wakeup)) => Some((Stack::Root(root), 0, wakeup.latency_ns)),
            (None, None) => None,
        };
        if let Some((stack, waiting_ns, ready_ns)) = before {
            *sums.entry(stack).or_default() += StackTimes {
                ready_ns,
                waiting_ns,
                ..StackTimes::default()
            };
        }
        Ok(())
    })?;
    Ok((sums, totals))
}

impl Stack {
    /// Its frames, the root of the task first: at least one.
    pub(super) fn frames(self, labels: &Labels) -> Vec<StackFrame> {
        let call = |call: &CallName| frame(labels, *call);
        match self {
            Self::Path { path, root } => labels.calls(path, root).iter().map(call).collect(),
            Self::Root(root) => vec![root_frame(labels, root)],
            Self::Chain { chain, root } => {
                let calls = labels.chain(chain);
                let Some(last) = calls.last() else {
                    let several = StackFrame {
                        name: SEVERAL.to_owned(),
                        ..StackFrame::default()
                    };
                    return vec![root_frame(labels, root), several];
                };
                calls.iter().map(call).chain(place(labels, *last)).collect()
            }
        }
    }
}

fn root_frame(labels: &Labels, root: Option<u32>) -> StackFrame {
    let unknown = || StackFrame {
        name: UNKNOWN.to_owned(),
        ..StackFrame::default()
    };
    root.map_or_else(unknown, |proc| frame(labels, CallName { proc, site: None }))
}

/// A call.
fn frame(labels: &Labels, call: CallName) -> StackFrame {
    let known = labels.known(call.proc);
    let begin = known.map_or(0, |proc| proc.line);
    StackFrame {
        name: labels.proc(call.proc),
        file: known.map_or_else(String::new, |proc| proc.file.clone()),
        begin,
        line: labels.site(call).map_or(begin, |(_, site)| site.line),
    }
}

/// The await point at which a call stands, if it is known.
fn place(labels: &Labels, call: CallName) -> Option<StackFrame> {
    let (proc, site) = labels.site(call)?;
    Some(StackFrame {
        name: labels.place(call)?,
        file: proc.file.clone(),
        begin: site.line,
        line: site.line,
    })
}
