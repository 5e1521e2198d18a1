//! Pitfalls that TurboWish detects, with their names on screens, in JSON and in the documentation.

macro_rules! pitfalls {
    ($($(#[doc = $doc:literal])+ $name:ident $id:literal $title:literal $page:literal;)*) => {
        /// A kind of problem in an async program.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Pitfall {
            $($(#[doc = $doc])+ $name,)*
        }

        impl Pitfall {
            /// Every pitfall; within one severity the worst comes first.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Name in JSON and filters.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self {
                    $(Self::$name => $id,)*
                }
            }

            /// Name on screens.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$name => $title,)*
                }
            }

            /// What is wrong, in a sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc),+).trim_ascii_start(),)*
                }
            }

            /// Name of the page that explains it, in the documentation and in `turbowish explain`.
            #[must_use]
            pub const fn page(self) -> &'static str {
                match self {
                    $(Self::$name => $page,)*
                }
            }

            /// The command that prints this page.
            #[must_use]
            pub const fn docs(self) -> &'static str {
                match self {
                    $(Self::$name => concat!("turbowish explain ", $page),)*
                }
            }
        }
    };
}

impl Pitfall {
    /// Returns the pitfall with this id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|known| known.id() == id)
    }
}

impl Default for Pitfall {
    fn default() -> Self {
        Self::ALL[0]
    }
}

pitfalls! {
    /// Tasks wait for each other in a cycle.
    Deadlock "deadlock" "deadlock" "deadlock";
    /// A task waits for something that only the task itself could provide.
    SelfDeadlock "self_deadlock" "self deadlock" "self-deadlock";
    /// A future was granted a resource, but its task polls another future that waits for it.
    Futurelock "futurelock" "futurelock" "futurelock";
    /// A worker is blocked by a poll that does not return.
    BlockedWorker "blocked_worker" "blocked worker" "blocked-worker";
    /// The first poll of a task does not return.
    NeverYields "never_yields" "never yields" "never-yields";
    /// A task waits, and nothing can wake it.
    LostWaker "lost_waker" "lost waker" "lost-waker";
    /// A sender waits for a receiver that does not receive.
    BlockedSender "blocked_sender" "blocked sender" "blocked-sender";
    /// A future was polled again after it had returned or panicked.
    PolledAfterEnd "polled_after_end" "polled after end" "polled-after-end";
    /// A task panicked after its handle was dropped: no code sees the error.
    DetachedFailure "detached_failure" "detached failure" "detached-failure";
    /// Polls exceed the limit for long polls.
    LongPoll "long_poll" "long poll" "long-poll";
    /// A task hardly ever waits.
    YieldsRarely "yields_rarely" "yields rarely" "yields-rarely";
    /// One task polls many futures, and is busy with them all of the time.
    CrowdedTask "crowded_task" "crowded task" "crowded-task";
    /// A task is ready and is not polled, while other tasks are.
    Starvation "starvation" "starvation" "starvation";
    /// Waits for timers end long after their deadlines.
    LateTimers "late_timers" "late timers" "late-timers";
    /// A future was woken, and its task does not poll it.
    SnoozedFuture "snoozed_future" "snoozed future" "snoozed-future";
    /// A future of a stream was woken, and its task does not poll the stream.
    StreamStall "stream_stall" "stream stall" "stream-stall";
    /// A branch of a `select!` was dropped after it had received, locked or sent something.
    CancelUnsafeSelect "cancel_unsafe_select" "cancel-unsafe select!" "cancel-unsafe-select";
    /// A timeout dropped a future after it had received, locked or sent something.
    TimeoutHalfDone "timeout_half_done" "timeout leaves work half done" "timeout-half-done";
    /// Two tasks acquire two locks in opposite orders.
    LockOrderInversion "lock_order_inversion" "lock order inversion" "lock-order-inversion";
    /// An unbounded channel grows.
    UnboundedGrowth "unbounded_growth" "unbounded growth" "unbounded-growth";
    /// Tasks of a function are spawned and do not end.
    TaskLeak "task_leak" "task leak" "task-leak";
    /// A bounded channel is always full.
    BufferBloat "buffer_bloat" "buffer bloat" "buffer-bloat";
    /// A guard is held while its task waits for something else.
    GuardAcrossAwait "guard_across_await" "guard across await" "guard-across-await";
    /// Many tasks request a lock at once.
    LockConvoy "lock_convoy" "lock convoy" "lock-convoy";
    /// A task keeps waking itself and makes no progress.
    SelfWakeSpin "self_wake_spin" "self-wake spin" "self-wake-spin";
    /// Most polls of a function change nothing.
    SpuriousPolls "spurious_polls" "spurious polls" "spurious-polls";
    /// A future was created and dropped without a poll.
    NeverPolled "never_polled" "never polled" "never-polled";
    /// A future is large.
    LargeFuture "large_future" "large future" "large-future";
    /// One source produces more events than accounting is designed for.
    Overload "overload" "overload" "overload";
    /// Wakers are cloned more often than needed.
    WakerChurn "waker_churn" "waker churn" "waker-churn";
    /// Tokio makes a task yield in most of its polls, although it could go on.
    BudgetExhausted "budget_exhausted" "budget exhausted" "budget-exhausted";
}
