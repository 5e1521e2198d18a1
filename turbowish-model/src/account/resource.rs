//! Resources: the words for what tasks wait for, and a reading of one as the monitor sees it.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::panic::Location;

/// It is sure: a will, and no may.
pub const WILL: u8 = 1;
/// It is done again and again, so that having done it once does not end it.
pub const AGAIN: u8 = 2;
/// What is used is the call's own or borrowed by it, as its source shows: until then, if it is a will to be done once; else as long as the
/// call's body runs.
pub const PROVEN: u8 = 4;
/// Its author says so.
pub const SAID: u8 = 8;

use crate::account::histogram::Buckets;

/// What a resource is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// One holder at a time.
    #[default]
    Mutex,
    /// Many readers or one writer.
    RwLock,
    /// Permits.
    Semaphore,
    /// A party that waits until it is complete.
    Barrier,
    /// A signal without a value.
    Notify,
    /// A value that is made once.
    OnceCell,
    /// A queue with many senders and one receiver.
    Mpsc,
    /// One value from one task to another.
    Oneshot,
    /// A queue that every receiver sees all of.
    Broadcast,
    /// The latest value.
    Watch,
    /// An instant to come.
    Timer,
}

impl Kind {
    /// The word that tables and JSON print.
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
}

/// What a task does with a resource, or wants to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Has it alone.
    #[default]
    Lock,
    /// Has it together with other readers.
    Read,
    /// Has it alone, where others may read.
    Write,
    /// Takes permits.
    Acquire,
    /// Puts something in.
    Send,
    /// Takes something out.
    Receive,
    /// Waits for a change.
    Wait,
}

impl Role {
    /// The word that tables and JSON print.
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

    /// Whoever waits so is kept from going on by others; to wait for an item or a change is what
    /// tasks without work do.
    #[must_use]
    pub const fn holds_up(self) -> bool {
        matches!(
            self,
            Self::Lock | Self::Read | Self::Write | Self::Acquire | Self::Send
        )
    }
}

/// Who does something: the task and the call of it that is polled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CurrentCall {
    /// Id of the task; 0 if it is none of ours.
    pub task: u64,
    /// Proc of the innermost call plus one; 0 if there is none.
    pub proc: u32,
    /// Its await point plus one; 0 if unknown.
    pub site: u16,
    /// When the task's root poll began; 0 if there is none.
    pub poll: u64,
}

/// A task that waits for a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// Ascending in the order in which they began to wait; unique within the resource.
    pub ticket: u64,
    /// Who waits.
    pub who: CurrentCall,
    /// For what.
    pub role: Role,
    /// How much.
    pub amount: u32,
    /// Since when, in ticks.
    pub since: u64,
    /// Where in the source it was asked for.
    pub at: &'static Location<'static>,
    /// When its waker was woken, and it was not polled since.
    pub woken: Option<u64>,
    /// Its waker is held by something that could still wake it.
    pub wakeable: bool,
    /// The root poll of its task in which it was polled last, by its begin.
    pub polled: u64,
}

/// A task that has a resource, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Ascending in the order in which they came to hold; unique within the resource.
    pub ticket: u64,
    /// Who took it.
    pub who: CurrentCall,
    /// As what.
    pub role: Role,
    /// How much.
    pub amount: u32,
    /// Since when, in ticks.
    pub since: u64,
    /// Where in the source it was taken.
    pub at: &'static Location<'static>,
    /// The guard borrows nothing, and may have gone to another task.
    pub owned: bool,
}

/// One end of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// Sends or receives.
    pub role: Role,
    /// The task that used it last; `None` if it was not used yet, or by none of ours.
    pub user: Option<u64>,
    /// Unique within the channel; `None` if nobody has used it yet, or meant to.
    pub number: Option<u64>,
}

/// How sure it is that a task will do what it means to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// It will, unless it is dropped.
    Will,
    /// It depends.
    May,
}

impl Strength {
    /// The word that tables and JSON print.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Will => "will",
            Self::May => "may",
        }
    }
}

/// A call means to use a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intent {
    /// Ascending in the order in which they were told; unique within the resource.
    pub ticket: u64,
    /// Who means to: the task, and the call of it.
    pub who: CurrentCall,
    /// What it means to do.
    pub role: Role,
    /// How sure that is.
    pub strength: Strength,
    /// Read from the source, and not only said by its author: the end is this call's. What is used further down for certain cannot have
    /// been given away; what may be used is named nowhere in a way that could give it away.
    pub proven: bool,
    /// The end that it means to use, by its number.
    pub end: Option<u64>,
}

/// What went through a resource since it was first used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Items put in; for locks, how often they were taken.
    pub put: u64,
    /// Items taken out; for locks, how often they were given back.
    pub took: u64,
    /// Waits begun.
    pub waits: u64,
    /// Permits that were let go of for good.
    pub forgotten: u64,
}

/// One resource at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Unique within the process; never used twice.
    pub id: u64,
    /// What it is.
    pub kind: Kind,
    /// The name given to it.
    pub name: Option<Arc<str>>,
    /// Where it was made.
    pub place: &'static Location<'static>,
    /// First use, in ticks.
    pub created: u64,
    /// Permits, or items that fit in; `None` if unbounded, or there is no such thing.
    pub capacity: Option<u64>,
    /// Nothing comes any more.
    pub closed: bool,
    /// Some that hold it, the first ones first.
    pub holders: Vec<Holder>,
    /// How many there are.
    pub holder_count: u64,
    /// What all of them hold.
    pub held: u64,
    /// Some that wait, in order.
    pub waiters: Vec<Waiter>,
    /// How many there are.
    pub waiter_count: u64,
    /// Ends of a channel.
    pub ends: Vec<End>,
    /// Some of the intents to use it, the unconditional ones first.
    pub intents: Vec<Intent>,
    /// How many say that they will, and that they may.
    pub intent_counts: (u64, u64),
    /// Since when nobody means to receive who has not done so, in ticks; `None` if somebody does, or nobody ever did.
    pub deserted: Option<u64>,
    /// What went through.
    pub flow: Flow,
    /// How long that took.
    pub times: Times,
}

/// What waits and holds took, in ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// From the beginning to the end of waits that were served.
    pub waited: Buckets,
    /// Time that it was held, or that items spent inside.
    pub kept: Buckets,
}

/// Waiters, holders and intents beyond so many are only counted in a [`Reading`].
pub const SHOWN: usize = 256;

impl Reading {
    /// Some who hold it, wait for it or mean to use it are only counted.
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        let (will, may) = self.intent_counts;
        self.holder_count > self.holders.len() as u64
            || self.waiter_count > self.waiters.len() as u64
            || will + may > self.intents.len() as u64
    }
}

/// Who is only counted in a [`Reading`]: tasks of ours, in no order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// Those who hold it.
    pub holders: Vec<Holder>,
    /// Those who wait for it, in order.
    pub waiters: Vec<Waiter>,
    /// Intents to use it.
    pub intents: Vec<Intent>,
}
