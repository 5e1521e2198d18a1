//! Steps: what the mock decides, and its driver lets happen.

use turbowish_model::account::call::PollEnd;
use turbowish_model::event::{ConsoleEvent, IntentEvent};

/// What happens next, on the current thread where none is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Polls the root of a task on a worker; what its body does, the mock says between
    /// [`Mock::enter`](super::Mock::enter) and [`Step::End`].
    Run {
        /// The task.
        task: u64,
        /// Its root.
        call: u64,
        /// Number of the thread.
        worker: u64,
    },
    /// The same for a child, in the body that runs.
    Poll {
        /// The child.
        call: u64,
    },
    /// Calls the function of a proc; the call is the root of a task, or a child of the one that
    /// runs.
    Create {
        /// The call.
        call: u64,
        /// Index of [`PROCS`](super::PROCS).
        proc: usize,
    },
    /// Drops a call.
    Drop {
        /// The call.
        call: u64,
    },
    /// A task is over: its root has ended, or was dropped.
    Finish {
        /// The task.
        task: u64,
    },
    /// Polls the future that waits for a lock; a new one under a new ticket.
    Lock {
        /// Index of the lock.
        lock: usize,
        /// Ticket of the wait.
        ticket: u64,
        /// Whether the future is ready.
        ready: bool,
    },
    /// Drops that future.
    Leave {
        /// Index of the lock.
        lock: usize,
        /// Ticket of the wait.
        ticket: u64,
    },
    /// Drops the guard.
    Unlock {
        /// Index of the lock.
        lock: usize,
        /// Ticket of the wait.
        ticket: u64,
    },
    /// Puts an item into a queue, which has room.
    Put {
        /// Index of the queue.
        queue: usize,
    },
    /// Takes an item out of a queue, which has one.
    Take {
        /// Index of the queue.
        queue: usize,
    },
    /// The body that runs wakes its own task.
    WakeSelf {
        /// The task.
        task: u64,
    },
    /// The body that runs keeps a clone of its waker.
    Keep {
        /// The task.
        task: u64,
    },
    /// A kept waker wakes its task.
    Wake {
        /// The task.
        task: u64,
    },
    /// A kept waker is dropped.
    Forget {
        /// The task.
        task: u64,
    },
    /// An intent begins or changes.
    Intend {
        /// The intent.
        intent: u64,
        /// What happens to it.
        kind: IntentEvent,
    },
    /// The program reports data of its own.
    Say {
        /// 0: a counter, 1: a gauge, 2: an attribute.
        name: usize,
    },
    /// A console does something.
    Console {
        /// Number of the connection.
        client: u64,
        /// What it does.
        kind: ConsoleEvent,
    },
    /// The body that runs returns from its poll.
    End {
        /// The call that is polled.
        call: u64,
        /// How the poll ends.
        end: PollEnd,
    },
    /// Nothing is left, and nothing happens any more.
    Over,
}
