//! Resources: the types that describe what tasks wait for, and a reading of one resource as the
//! monitor sees it.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::panic::Location;

/// Intent flag: the use is certain (`will`), not possible (`may`).
pub const WILL: u8 = 1;
/// Intent flag: the use is repeated, so one use does not end the intent.
pub const AGAIN: u8 = 2;
/// Intent flag: the source shows that the call owns or borrows what it uses. For a single `will`
/// this holds until the use; otherwise as long as the call's body runs.
pub const PROVEN: u8 = 4;
/// Intent flag: the author declared the intent.
pub const SAID: u8 = 8;

use crate::account::histogram::Buckets;

/// Kind of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A lock with one holder at a time.
    #[default]
    Mutex,
    /// A lock with many readers or one writer.
    RwLock,
    /// A pool of permits.
    Semaphore,
    /// A barrier that waits until a number of tasks has arrived.
    Barrier,
    /// A signal without a value.
    Notify,
    /// A value that is initialized once.
    OnceCell,
    /// A queue with many senders and one receiver.
    Mpsc,
    /// A channel for a single value.
    Oneshot,
    /// A queue of which each receiver sees every item.
    Broadcast,
    /// A channel that keeps only the latest value.
    Watch,
    /// A point in time.
    Timer,
}

impl Kind {
    /// The word used in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Mutex => "mutex",
            Self::RwLock => "rwlock",
            Self::Semaphore => "semaphore",
            Self::Barrier => "barrier",
            Self::Notify => "notify",
            Self::OnceCell => "once_cell",
            Self::Mpsc => "mpsc",
            Self::Oneshot => "oneshot",
            Self::Broadcast => "broadcast",
            Self::Watch => "watch",
            Self::Timer => "timer",
        }
    }

    /// Whether alert rules judge how long items are inside.
    #[must_use]
    pub const fn has_queue_time(self) -> bool {
        matches!(self, Self::Mpsc)
    }
}

/// How a task uses a resource, or wants to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Holds the lock exclusively.
    #[default]
    Lock,
    /// Holds the lock together with other readers.
    Read,
    /// Holds a read-write lock exclusively.
    Write,
    /// Takes permits of a semaphore.
    Acquire,
    /// Puts an item in.
    Send,
    /// Takes an item out.
    Receive,
    /// Waits for a change.
    Wait,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Lock,
        Self::Read,
        Self::Write,
        Self::Acquire,
        Self::Send,
        Self::Receive,
        Self::Wait,
    ];

    /// The word used in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::Read => "read",
            Self::Write => "write",
            Self::Acquire => "acquire",
            Self::Send => "send",
            Self::Receive => "recv",
            Self::Wait => "wait",
        }
    }

    /// Whether a waiter with this role is blocked by other tasks. Waiting for an item or a change
    /// is what idle tasks do.
    #[must_use]
    pub const fn holds_up(self) -> bool {
        matches!(
            self,
            Self::Lock | Self::Read | Self::Write | Self::Acquire | Self::Send
        )
    }
}

/// The call that acts: a task, and the call that it polls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CurrentCall {
    /// Id of the task; 0 if it is not instrumented.
    pub task: u64,
    /// Proc id of the innermost call plus one; 0 if there is none.
    pub proc: u32,
    /// Await point of that call plus one; 0 if unknown.
    pub site: u16,
    /// Start of the task's root poll, in ticks; 0 if there is none.
    pub poll: u64,
}

/// A task that waits for a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// Ascending in the order in which the waits began; unique within the resource.
    pub ticket: u64,
    /// The call that waits, and its task.
    pub who: CurrentCall,
    /// The operation that it waits for.
    pub role: Role,
    /// Number of permits or items requested.
    pub amount: u32,
    /// Start of the wait, in ticks.
    pub since: u64,
    /// Source location of the request.
    pub at: &'static Location<'static>,
    /// When its waker was woken, in ticks, if it was not polled since.
    pub woken: Option<u64>,
    /// Something that could still wake the waiter holds its waker.
    pub wakeable: bool,
    /// Start of the root poll of its task in which it was last polled, in ticks.
    pub polled: u64,
}

/// A task that holds a resource, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Ascending in the order in which the holds began; unique within the resource.
    pub ticket: u64,
    /// The call that acquired it.
    pub who: CurrentCall,
    /// The kind of hold.
    pub role: Role,
    /// Number of permits or items held.
    pub amount: u32,
    /// Start of the hold, in ticks.
    pub since: u64,
    /// Source location of the acquisition.
    pub at: &'static Location<'static>,
    /// The guard borrows nothing and may have moved to another task.
    pub owned: bool,
}

/// One end of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// [`Role::Send`] or [`Role::Receive`].
    pub role: Role,
    /// Id of the task that last used the end; `None` if it was never used, or by no instrumented
    /// task.
    pub user: Option<u64>,
    /// Unique within the channel; `None` if the end was neither used nor named by an intent.
    pub number: Option<u64>,
}

/// Strength of an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// The task will use the resource, unless it is dropped.
    Will,
    /// The task may use the resource.
    May,
}

impl Strength {
    /// The word used in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Will => "will",
            Self::May => "may",
        }
    }
}

/// Intent of a call to use a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intent {
    /// Ascending in the order in which the intents were declared; unique within the resource.
    pub ticket: u64,
    /// The task and its call.
    pub who: CurrentCall,
    /// The operation that the call intends.
    pub role: Role,
    /// Whether the use is certain.
    pub strength: Strength,
    /// The source shows that the end belongs to this call; it is not only declared by the author.
    /// What is certainly used later cannot have been given away; what may be used appears nowhere
    /// in a way that could give it away.
    pub proven: bool,
    /// Number of the end that the call intends to use.
    pub end: Option<u64>,
}

/// Traffic of a resource since its first use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Items put in; for locks, the number of acquisitions.
    pub put: u64,
    /// Items taken out; for locks, the number of releases.
    pub took: u64,
    /// Number of waits started.
    pub waits: u64,
    /// Number of permits removed permanently (`forget`).
    pub forgotten: u64,
}

/// One resource at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Unique within the process; never reused.
    pub id: u64,
    /// Kind of the resource.
    pub kind: Kind,
    /// The name that the program gave it.
    pub name: Option<Arc<str>>,
    /// Source location of its construction.
    pub place: &'static Location<'static>,
    /// First use, in ticks.
    pub created: u64,
    /// Number of permits, or of items that fit in; `None` if unbounded or not applicable.
    pub capacity: Option<u64>,
    /// The resource is closed: nothing more will arrive.
    pub closed: bool,
    /// Some of the holders, oldest hold first.
    pub holders: Vec<Holder>,
    /// Number of all holders.
    pub holder_count: u64,
    /// Total amount that all holders hold.
    pub held: u64,
    /// Some of the waiters, in order.
    pub waiters: Vec<Waiter>,
    /// Number of all waiters.
    pub waiter_count: u64,
    /// The ends of a channel.
    pub ends: Vec<End>,
    /// Some of the intents, certain ones first.
    pub intents: Vec<Intent>,
    /// Number of all intents: `(will, may)`.
    pub intent_counts: (u64, u64),
    /// Since when no call intends to receive that has not done so yet, in ticks; `None` if one
    /// does, or none ever did.
    pub deserted: Option<u64>,
    /// Traffic since the first use.
    pub flow: Flow,
    /// Durations of waits and holds.
    pub times: Times,
}

/// Durations of waits and holds, in ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Duration of waits that were served.
    pub waited: Buckets,
    /// Duration of holds, or time that items spent inside.
    pub kept: Buckets,
    /// The longest of `waited`.
    pub longest_wait: Option<LongestUse>,
    /// The longest queue.
    pub longest_queue: Option<LongestQueue>,
    /// The longest of `kept`.
    pub longest_hold: Option<LongestUse>,
}

/// The largest number of waiters at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestQueue {
    /// Number of waiters.
    pub count: u64,
    /// When the last of them began to wait, in ticks.
    pub at: u64,
}

/// The longest hold of a resource that has ended, the longest wait for it that was served, or the
/// longest stay of an item inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestUse {
    /// Duration, in ticks.
    pub ticks: u64,
    /// End, in ticks.
    pub end: u64,
    /// The call that acquired it, that waited, or that took the item out.
    pub who: CurrentCall,
    /// The kind of use.
    pub role: Role,
    /// Source location of the acquisition or the request; `None` for an item.
    pub at: Option<&'static Location<'static>>,
    /// Number of the thread on which it ended; `None` if nothing was ever accounted there.
    pub thread: Option<u32>,
    /// The task that had the lock to itself when the wait began; 0 if it is not known.
    pub behind: u64,
}

/// Maximum number of waiters, holders and intents listed in a [`Reading`]; further ones are only
/// counted.
pub const SHOWN: usize = 256;

impl Reading {
    /// Whether some holders, waiters or intents are counted but not listed.
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        let (will, may) = self.intent_counts;
        self.holder_count > self.holders.len() as u64
            || self.waiter_count > self.waiters.len() as u64
            || will + may > self.intents.len() as u64
    }
}

/// Holders, waiters and intents of instrumented tasks that a [`Reading`] only counts, in no order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// Holders beyond those of the reading.
    pub holders: Vec<Holder>,
    /// Waiters beyond those of the reading, by ticket.
    pub waiters: Vec<Waiter>,
    /// Intents beyond those of the reading.
    pub intents: Vec<Intent>,
}
