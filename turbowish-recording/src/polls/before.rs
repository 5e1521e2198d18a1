//! Polls in chunks of kinds 4 and 7, which were written until 2026-11-29. They are only read.

use turbowish_model::account::poll_ring::PollOutcome;

use super::{
    BY, BY_UNKNOWN, OUTCOME, PollEvent, SAME_CHAIN, SAME_PATH, WOKEN, Waker, WakeupEvent, WokenBy,
    apply, chain_after, span, task_after,
};
use crate::varint::{Bytes, unfold};

/// The task is that of the poll before.
const SAME_TASK: u8 = 1 << 4;
/// Task, path and chain are delta-encoded. Without this flag, the whole ID of the task is, and path
/// and chain are not.
const DELTA: u8 = 1 << 7;

/// The task was woken by the last task that woke one.
const BY_SAME_TASK: u64 = 3;

/// What the polls before had, from which the next one is delta-encoded.
#[derive(Clone, Copy, Default)]
pub(super) struct OlderBase {
    /// Task, path and chain of the poll before.
    task: u64,
    path: u32,
    chain: u32,
    /// Chain of the last poll after which a task waited.
    waited: u32,
    /// The last task that woke one, and the path of its call.
    waker: (u64, u32),
}

impl OlderBase {
    /// Goes on to the poll after this one.
    const fn pass(&mut self, poll: &PollEvent) {
        (self.task, self.path, self.chain) = (poll.task, poll.path, poll.chain);
        if poll.chain != 0 {
            self.waited = poll.chain;
        }
        if let Some(WakeupEvent {
            by: WokenBy::Task { id, path },
            ..
        }) = poll.wakeup
        {
            self.waker = (id, path);
        }
    }

    /// Reads a poll after the one that ended at `clock`, and goes on to the next one.
    pub(super) fn poll(&mut self, bytes: &mut Bytes<'_>, clock: u64) -> Option<PollEvent> {
        let flags = bytes.byte()?;
        let is_delta = flags & DELTA != 0;
        let (start_unix_ns, hold_ns) = span(bytes, clock)?;
        let task = match flags & SAME_TASK {
            0 if is_delta => task_after(self.task, bytes)?,
            0 => self.task.wrapping_add_signed(unfold(bytes.number()?)),
            _ => self.task,
        };
        let path = match flags & SAME_PATH {
            0 if is_delta => apply(self.path, bytes.number()?)?,
            0 => bytes.small()?,
            _ => self.path,
        };
        let chain = match flags & SAME_CHAIN {
            0 if is_delta => chain_after(self.waited, bytes)?,
            0 => bytes.small()?,
            _ => self.chain,
        };
        let wakeup = match flags & WOKEN {
            0 => None,
            _ => Some(self.wakeup(bytes, task)?),
        };
        let poll = PollEvent {
            start_unix_ns,
            hold_ns,
            task,
            path,
            chain,
            outcome: PollOutcome::of(flags & OUTCOME),
            wakeup,
        };
        self.pass(&poll);
        Some(poll)
    }

    fn wakeup(&self, bytes: &mut Bytes<'_>, task: u64) -> Option<WakeupEvent> {
        let latency_ns = bytes.number()?;
        let waker = Waker::read(bytes, task)?;
        let by = match waker.number & BY {
            BY_UNKNOWN => WokenBy::Unknown,
            BY_SAME_TASK => WokenBy::Task {
                id: self.waker.0,
                path: self.waker.1,
            },
            _ => waker.of_task(task)?,
        };
        Some(WakeupEvent { latency_ns, by })
    }
}

#[cfg(test)]
mod tests {
    use turbowish_model::account::poll_ring::PollOutcome;
    use turbowish_model::account::task::TaskMeta;

    use crate::{PollBatch, PollEvent, WakeupEvent, WokenBy};

    fn polls(body: &[u8]) -> Vec<PollEvent> {
        let batch = PollBatch::read(100, body).expect("a body");
        assert_eq!((batch.thread, batch.first, batch.lost), (7, 3, 2));
        batch.polls
    }

    fn first(task: u64, by: u64) -> PollEvent {
        PollEvent {
            start_unix_ns: 105,
            hold_ns: 10,
            task,
            path: 300,
            chain: 9,
            outcome: PollOutcome::Pending,
            wakeup: Some(WakeupEvent {
                latency_ns: 3,
                by: WokenBy::Task { id: by, path: 5 },
            }),
        }
    }

    /// Of a chunk of kind 4: the task of the first poll is 40, and it was woken by 38 in a call of
    /// path 5.
    #[test]
    fn bodies_without_deltas_are_read() {
        let head = [7, 3, 2];
        let [one, two] = [&[0x09, 5, 10, 80, 0xac, 2, 9, 3, 22, 3][..], &[0x72, 1, 2]];
        let first = first(40, 38);
        let second = PollEvent {
            start_unix_ns: 116,
            hold_ns: 2,
            outcome: PollOutcome::Ready,
            wakeup: None,
            ..first
        };
        assert_eq!(polls(&[&head, one, two].concat()), [first, second]);
    }

    /// Of a chunk of kind 7.
    #[test]
    fn bodies_with_deltas_to_the_poll_before_are_read() {
        let head = [7, 3, 2];
        let of_first = [137, 5, 10, 17, 9, 216, 4, 19, 3, 22, 255, 255, 3];
        let of_second = [138, 1, 2, 4, 1, 0, 3, 3];
        let of_third = [169, 2, 200, 1, 15, 8, 2, 172, 2, 25];
        let body = [&head[..], &of_first, &of_second, &of_third].concat();
        let task = |root, ordinal| TaskMeta::new(root, ordinal, 0, 0).id;
        let first = first(task(9, 4), task(9, 2));
        let second = PollEvent {
            start_unix_ns: 116,
            hold_ns: 2,
            outcome: PollOutcome::Ready,
            task: task(9, 5),
            path: 299,
            chain: 0,
            ..first
        };
        let third = PollEvent {
            start_unix_ns: 120,
            hold_ns: 200,
            task: task(8, 1),
            path: 299,
            chain: 8,
            wakeup: Some(WakeupEvent {
                latency_ns: 300,
                by: WokenBy::Thread(6),
            }),
            ..first
        };
        assert_eq!(polls(&body), [first, second, third]);
    }
}
