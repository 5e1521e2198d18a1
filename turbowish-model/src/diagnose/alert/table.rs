//! Every alert there is. The console, the JSON, `check` and the documentation take names, severities and texts from here.

use alloc::string::String;

use super::limits::Limit;
use super::rules;
use super::{Severity, words};

/// An alert as documented.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Which.
    pub pitfall: Pitfall,
    /// Its name in JSON and filters.
    pub id: &'static str,
    /// Its name on screens.
    pub title: &'static str,
    /// How bad it is, unless the rule says that one is worse or better.
    pub severity: Severity,
    /// Its page.
    pub docs: &'static str,
    /// How long it must hold.
    pub hold: Option<Limit>,
    /// In how many scans it must be seen.
    pub scans: u32,
    /// It is about something that happened: it stays for [`Limit::Linger`] after it was seen.
    pub lingers: bool,
    /// The reason, with names in braces.
    pub why: &'static str,
    /// What can be done, with names in braces.
    pub fixes: &'static [&'static str],
    /// Its thresholds.
    pub limits: &'static [Limit],
}

macro_rules! pitfalls {
    ($($(#[$doc:meta])* $name:ident $row:path;)*) => {
        /// Something that goes wrong in a program.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Pitfall {
            $($(#[$doc])* $name,)*
        }

        /// Every alert, worst first among those of one severity, in the order of [`Pitfall`].
        pub const TABLE: &[Row] = &[$($row,)*];
    };
}

pitfalls! {
    /// Tasks wait for each other in a cycle.
    #[default]
    Deadlock rules::deadlock::DEADLOCK;
    /// A task waits for what only itself could give.
    SelfDeadlock rules::deadlock::SELF_DEADLOCK;
    /// A future has its turn, and its task polls another one that waits behind it.
    Futurelock rules::futurelock::FUTURELOCK;
    /// A worker does not come out of a poll.
    BlockedWorker rules::open_polls::BLOCKED_WORKER;
    /// A task does not come out of its first poll.
    NeverYields rules::open_polls::NEVER_YIELDS;
    /// A task waits, and nothing can wake it.
    LostWaker rules::wakes::LOST_WAKER;
    /// A sender waits for a receiver that does not receive.
    BlockedSender rules::channels::BLOCKED_SENDER;
    /// A task panicked, and nobody can know.
    DetachedFailure rules::futures::DETACHED_FAILURE;
    /// Polls take long.
    LongPoll rules::polls::LONG_POLL;
    /// A task hardly ever waits.
    YieldsRarely rules::polls::YIELDS_RARELY;
    /// A task is ready and is not polled, while others are.
    Starvation rules::polls::STARVATION;
    /// A future was woken, and its task does not poll it.
    SnoozedFuture rules::snoozed::SNOOZED_FUTURE;
    /// The same for the futures of a stream.
    StreamStall rules::snoozed::STREAM_STALL;
    /// A branch of a `select!` was dropped when it had already taken something.
    CancelUnsafeSelect rules::cancelled::CANCEL_UNSAFE_SELECT;
    /// A timeout dropped something half-way.
    TimeoutHalfDone rules::cancelled::TIMEOUT_HALF_DONE;
    /// Two tasks take two locks in opposite orders.
    LockOrderInversion rules::order::LOCK_ORDER_INVERSION;
    /// A channel without bound fills.
    UnboundedGrowth rules::channels::UNBOUNDED_GROWTH;
    /// A bounded channel is always full.
    BufferBloat rules::channels::BUFFER_BLOAT;
    /// A guard is kept while its task waits for something else.
    GuardAcrossAwait rules::locks::GUARD_ACROSS_AWAIT;
    /// Many tasks come to a lock at once.
    LockConvoy rules::locks::LOCK_CONVOY;
    /// A task wakes itself all the time and gets nowhere.
    SelfWakeSpin rules::wakes::SELF_WAKE_SPIN;
    /// Polls change nothing.
    SpuriousPolls rules::wakes::SPURIOUS_POLLS;
    /// A future was made and dropped.
    NeverPolled rules::futures::NEVER_POLLED;
    /// A future is large.
    LargeFuture rules::futures::LARGE_FUTURE;
    /// The instrumentation itself has too much to do.
    Overload rules::overload::OVERLOAD;
    /// Wakers are cloned more often than needed.
    WakerChurn rules::wakes::WAKER_CHURN;
}

impl Pitfall {
    /// Its row in the table.
    #[must_use]
    pub const fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

impl Row {
    /// What most rows are: raised at once, a warning, with nothing to say.
    pub(super) const fn new(
        pitfall: Pitfall,
        id: &'static str,
        title: &'static str,
        docs: &'static str,
    ) -> Self {
        Self {
            pitfall,
            id,
            title,
            severity: Severity::Warning,
            docs,
            hold: None,
            scans: 1,
            lingers: false,
            why: "",
            fixes: &[],
            limits: &[],
        }
    }

    /// The text of a template, if each name in it has a value.
    pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> Option<String> {
        words::fill(template, values)
    }
}
