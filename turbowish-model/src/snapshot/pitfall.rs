//! Pitfalls that TurboWish detects, with their names on screens, in JSON and in the documentation.

macro_rules! pitfalls {
    ($($(#[$doc:meta])* $name:ident $id:literal $title:literal $docs:literal;)*) => {
        /// A kind of problem in an async program.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Pitfall {
            $($(#[$doc])* $name,)*
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

            /// Path of the page in the documentation.
            #[must_use]
            pub const fn docs(self) -> &'static str {
                match self {
                    $(Self::$name => $docs,)*
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

pitfalls! {
    /// Tasks wait for each other in a cycle.
    #[default]
    Deadlock "deadlock" "deadlock" "docs/alerts/deadlock.md";
    /// A task waits for something that only the task itself could provide.
    SelfDeadlock "self_deadlock" "self deadlock" "docs/alerts/self-deadlock.md";
    /// A future holds its turn at a resource, while its task polls another future that waits behind
    /// it.
    Futurelock "futurelock" "futurelock" "docs/alerts/futurelock.md";
    /// A worker is held by a poll that does not end.
    BlockedWorker "blocked_worker" "blocked worker" "docs/alerts/blocked-worker.md";
    /// The first poll of a task does not end.
    NeverYields "never_yields" "never yields" "docs/alerts/never-yields.md";
    /// A task waits, and nothing can wake it.
    LostWaker "lost_waker" "lost waker" "docs/alerts/lost-waker.md";
    /// A sender waits for a receiver that does not receive.
    BlockedSender "blocked_sender" "blocked sender" "docs/alerts/blocked-sender.md";
    /// A task panicked, and its result cannot be observed.
    DetachedFailure "detached_failure" "detached failure" "docs/alerts/detached-failure.md";
    /// Polls exceed the limit for long polls.
    LongPoll "long_poll" "long poll" "docs/alerts/long-poll.md";
    /// A task hardly ever waits.
    YieldsRarely "yields_rarely" "yields rarely" "docs/alerts/yields-rarely.md";
    /// A task is ready and is not polled, while other tasks are.
    Starvation "starvation" "starvation" "docs/alerts/starvation.md";
    /// A future was woken, and its task does not poll it.
    SnoozedFuture "snoozed_future" "snoozed future" "docs/alerts/snoozed-future.md";
    /// A future of a stream was woken, and its task does not poll the stream.
    StreamStall "stream_stall" "stream stall" "docs/alerts/stream-stall.md";
    /// A branch of a `select!` was dropped after it had taken or given something.
    CancelUnsafeSelect "cancel_unsafe_select" "cancel-unsafe select!" "docs/alerts/cancel-unsafe-select.md";
    /// A timeout dropped a future after it had taken or given something.
    TimeoutHalfDone "timeout_half_done" "timeout leaves work half done" "docs/alerts/timeout-half-done.md";
    /// Two tasks acquire two locks in opposite orders.
    LockOrderInversion "lock_order_inversion" "lock order inversion" "docs/alerts/lock-order-inversion.md";
    /// An unbounded channel grows.
    UnboundedGrowth "unbounded_growth" "unbounded growth" "docs/alerts/unbounded-growth.md";
    /// A bounded channel is always full.
    BufferBloat "buffer_bloat" "buffer bloat" "docs/alerts/buffer-bloat.md";
    /// A guard is held while its task waits for something else.
    GuardAcrossAwait "guard_across_await" "guard across await" "docs/alerts/guard-across-await.md";
    /// Many tasks request a lock at once.
    LockConvoy "lock_convoy" "lock convoy" "docs/alerts/lock-convoy.md";
    /// A task wakes itself all the time without progress.
    SelfWakeSpin "self_wake_spin" "self-wake spin" "docs/alerts/self-wake-spin.md";
    /// Polls have no effect.
    SpuriousPolls "spurious_polls" "spurious polls" "docs/alerts/spurious-polls.md";
    /// A future was created and dropped without a poll.
    NeverPolled "never_polled" "never polled" "docs/alerts/never-polled.md";
    /// A future is large.
    LargeFuture "large_future" "large future" "docs/alerts/large-future.md";
    /// The instrumentation itself has too many events.
    Overload "overload" "overload" "docs/alerts/overload.md";
    /// Wakers are cloned more often than needed.
    WakerChurn "waker_churn" "waker churn" "docs/alerts/waker-churn.md";
}
