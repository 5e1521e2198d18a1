//! Waits: from the end of a pending poll of a task to its wake.

use std::collections::HashMap;

use turbowish_model::account::poll_ring::PollOutcome;
use turbowish_recording::PollEvent;

use super::timeline::Step;

/// A wait of a task between two polls. Instants are in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    /// Where it waited; 0 if that is not one chain of calls.
    pub(super) chain: u32,
    /// End of the poll before.
    pub(super) from: u64,
    /// When it was woken; where that is not known, the beginning of the poll after.
    pub(super) woken: u64,
    /// Beginning of the poll after.
    pub(super) to: u64,
}

/// The tasks that wait, while the steps of a timeline go by.
#[derive(Debug, Default)]
pub(super) struct Waits {
    tasks: HashMap<u64, PendingPoll>,
    /// The latest end of a loss.
    lost_until: u64,
}

#[derive(Clone, Copy, Debug)]
struct PendingPoll {
    chain: u32,
    from: u64,
}

impl Waits {
    /// Takes a step. If it is a poll of a task that waited, and none of its polls between can have
    /// been lost, returns that wait.
    pub(super) fn step(&mut self, step: &Step) -> Option<Wait> {
        match step {
            Step::Poll { poll, .. } => self.poll(poll),
            Step::Lost { to, .. } => {
                self.lost_until = self.lost_until.max(*to);
                None
            }
            Step::Event { .. } | Step::LostEvents { .. } | Step::Mark { .. } => None,
        }
    }

    fn poll(&mut self, poll: &PollEvent) -> Option<Wait> {
        if poll.task == 0 {
            return None;
        }
        let to = poll.start_unix_ns;
        let before = match poll.outcome {
            PollOutcome::Pending => self.tasks.insert(
                poll.task,
                PendingPoll {
                    chain: poll.chain,
                    from: poll.end_unix_ns(),
                },
            ),
            _ => self.tasks.remove(&poll.task),
        };
        let PendingPoll { chain, from } = before.filter(|before| before.from >= self.lost_until)?;
        // Two threads may have polled it one after the other, by clocks that differ a little.
        let from = from.min(to);
        let latency = poll.wakeup.map_or(0, |wakeup| wakeup.latency_ns);
        let woken = to.saturating_sub(latency).max(from);
        Some(Wait {
            chain,
            from,
            woken,
            to,
        })
    }
}
