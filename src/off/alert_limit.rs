//! Compiled-out limits of the alert rules: the same names and units, no rules.

use std::time::Duration;

/// A share in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent(pub u8);

/// A size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// Compiled out: a limit of the alert rules with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AlertLimit {
    /// `clear`
    Clear(Duration),
    /// `linger`
    Linger(Duration),
    /// `window`
    Window(Duration),
    /// `long_poll.warn`
    LongPollWarn(Duration),
    /// `long_poll.count`
    LongPollCount(u64),
    /// `long_poll.share`
    LongPollShare(Percent),
    /// `long_poll.alert`
    LongPollAlert(Duration),
    /// `never_yields`
    NeverYields(Duration),
    /// `yields_rarely.share`
    YieldsRarelyShare(Percent),
    /// `yields_rarely.poll`
    YieldsRarelyPoll(Duration),
    /// `crowded_task.futures`
    CrowdedTaskFutures(u64),
    /// `crowded_task.busy`
    CrowdedTaskBusy(Percent),
    /// `crowded_task.ready`
    CrowdedTaskReady(Duration),
    /// `blocked_worker`
    BlockedWorker(Duration),
    /// `starvation.ready`
    StarvationReady(Duration),
    /// `starvation.polls`
    StarvationPolls(u64),
    /// `late_timers.late`
    LateTimersLate(Duration),
    /// `late_timers.share`
    LateTimersShare(Percent),
    /// `late_timers.count`
    LateTimersCount(u64),
    /// `lost_waker`
    LostWaker(Duration),
    /// `self_wake_spin.rate`
    SelfWakeSpinRate(u64),
    /// `self_wake_spin.share`
    SelfWakeSpinShare(Percent),
    /// `self_wake_spin.poll`
    SelfWakeSpinPoll(Duration),
    /// `spurious_polls.share`
    SpuriousPollsShare(Percent),
    /// `spurious_polls.polls`
    SpuriousPollsPolls(u64),
    /// `snoozed_future`
    SnoozedFuture(Duration),
    /// `guard_across_await.held`
    GuardAcrossAwaitHeld(Duration),
    /// `lock_convoy.waiters`
    LockConvoyWaiters(u64),
    /// `lock_convoy.spread`
    LockConvoySpread(Duration),
    /// `lock_convoy.wait`
    LockConvoyWait(Duration),
    /// `unbounded_growth.windows`
    UnboundedGrowthWindows(u64),
    /// `unbounded_growth.length`
    UnboundedGrowthLength(u64),
    /// `task_leak.windows`
    TaskLeakWindows(u64),
    /// `task_leak.spawned`
    TaskLeakSpawned(u64),
    /// `task_leak.ended`
    TaskLeakEnded(Percent),
    /// `task_leak.idle`
    TaskLeakIdle(Duration),
    /// `task_leak.polled`
    TaskLeakPolled(u64),
    /// `buffer_bloat.fill`
    BufferBloatFill(Percent),
    /// `buffer_bloat.held`
    BufferBloatHeld(Duration),
    /// `buffer_bloat.inside`
    BufferBloatInside(Duration),
    /// `blocked_sender`
    BlockedSender(Duration),
    /// `large_future.warn`
    LargeFutureWarn(Bytes),
    /// `large_future.note`
    LargeFutureNote(Bytes),
    /// `overload`
    Overload(u64),
    /// `waker_churn.clones`
    WakerChurnClones(u64),
    /// `waker_churn.polls`
    WakerChurnPolls(u64),
    /// `budget_exhausted.share`
    BudgetExhaustedShare(Percent),
    /// `budget_exhausted.polls`
    BudgetExhaustedPolls(u64),
}
