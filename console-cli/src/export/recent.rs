//! Recent polls: in which poll a task was woken by another one.

use std::collections::{BTreeMap, VecDeque};

use turbowish_recording::{PollEvent, WokenBy};

/// Polls of a thread that are kept: a wake further back is not looked for.
const KEPT: usize = 1 << 16;

/// Threads read two clocks each for their polls. A wake may seem to be this far outside of the poll
/// in which it was.
const SLACK_NS: u64 = 2_000;

/// The latest polls of each thread.
#[derive(Debug, Default)]
pub(super) struct RecentPolls {
    threads: BTreeMap<u32, VecDeque<Recent>>,
}

#[derive(Clone, Copy, Debug)]
struct Recent {
    start: u64,
    end: u64,
    task: u64,
}

/// Where a wake was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WakePlace {
    /// The thread of the poll.
    pub(super) thread: u32,
    /// An instant in the poll.
    pub(super) at: u64,
}

impl RecentPolls {
    /// Adds a poll; none begins before the one that was added before it.
    pub(super) fn add(&mut self, thread: u32, poll: &PollEvent) {
        let polls = self.threads.entry(thread).or_default();
        if polls.len() == KEPT {
            polls.pop_front();
        }
        polls.push_back(Recent {
            start: poll.start_unix_ns,
            end: poll.end_unix_ns(),
            task: poll.task,
        });
    }

    /// The poll in which the task of `poll` was woken for it, if a task did that.
    pub(super) fn waker(&self, poll: &PollEvent) -> Option<WakePlace> {
        let wakeup = poll.wakeup?;
        let WokenBy::Task { id: task, .. } = wakeup.by else {
            return None;
        };
        let at = poll.start_unix_ns.checked_sub(wakeup.latency_ns)?;
        let found = self.threads.iter().filter_map(|(thread, polls)| {
            let next = polls.partition_point(|poll| poll.start <= at.saturating_add(SLACK_NS));
            let near = polls.range(..next).rev();
            let near = near.take_while(|poll| poll.end.saturating_add(SLACK_NS) >= at);
            let of_task = near.filter(|poll| poll.task == task);
            let nearest = of_task.min_by_key(|poll| distance(poll, at))?;
            Some((distance(nearest, at), *thread, *nearest))
        });
        let (_, thread, poll) = found.min_by_key(|(distance, ..)| *distance)?;
        Some(WakePlace {
            thread,
            at: at.clamp(poll.start, poll.end),
        })
    }
}

/// Time between an instant and a poll; 0 within the poll.
fn distance(poll: &Recent, at: u64) -> u64 {
    poll.start.saturating_sub(at) + at.saturating_sub(poll.end)
}
