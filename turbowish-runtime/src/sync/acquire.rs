//! Acquisition shared by the locks: takes what is free at once, otherwise waits, observed as a
//! waiter of the resource.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::TryLockError;
use tokio::task::coop::{consume_budget, has_budget_remaining};

/// Takes what is free, or waits for it: `acquire!(resource, role, at, now, later)`, where `later`
/// is a future.
macro_rules! acquire {
    ($resource:expr, $role:expr, $at:expr, $now:expr, $later:expr) => {
        'turn: {
            // Nothing of this attempt is kept across the wait, so the future is no less `Sync` for
            // it.
            if let Some(got) = $crate::sync::acquire::within_budget(|| $now).await {
                break 'turn got;
            }
            let later = $later;
            $resource.wait($role, 1, $at, later).await
        }
    };
}
pub(super) use acquire;

/// Like `acquire!`, for guards that keep the lock alive:
/// `acquire_owned!(lock, role, at, now, later)`. `now` makes the guard from the lock; `later`
/// is a method of the lock's inner primitive.
macro_rules! acquire_owned {
    ($lock:expr, $role:expr, $at:expr, $now:path, $later:ident) => {
        'turn: {
            let lock = match $crate::sync::acquire::owned_within_budget($lock, $now).await {
                Ok(got) => break 'turn got,
                Err(lock) => lock,
            };
            let later = lock.value.$later();
            let got = lock.resource.wait($role, 1, $at, later).await;
            got.own(lock.clone(), |lock: &Self| &lock.value)
        }
    };
}
pub(super) use acquire_owned;

/// Runs `attempt` within the task's coop budget; `None` if no budget is left. Ready at once, and
/// holds nothing while it waits.
#[inline]
pub(super) fn within_budget<T>(
    mut attempt: impl FnMut() -> Option<T>,
) -> impl Future<Output = Option<T>> {
    poll_fn(move |cx| {
        if !has_budget_remaining() {
            return Poll::Ready(None);
        }
        let result = attempt();
        if result.is_some() {
            spend(cx);
        }
        Poll::Ready(result)
    })
}

/// Like [`within_budget`], for an `attempt` that consumes the lock; returns the lock if it fails.
#[inline]
pub(super) fn owned_within_budget<L: ?Sized, G>(
    lock: Arc<L>,
    mut attempt: impl FnMut(Arc<L>) -> Result<G, Arc<L>>,
) -> impl Future<Output = Result<G, Arc<L>>> {
    let mut lock = Some(lock);
    poll_fn(move |cx| {
        // Ready at its first poll.
        let Some(lock) = lock.take() else {
            return Poll::Pending;
        };
        if !has_budget_remaining() {
            return Poll::Ready(Err(lock));
        }
        let result = attempt(lock);
        if result.is_ok() {
            spend(cx);
        }
        Poll::Ready(result)
    })
}

/// Spends one unit of the task's budget. Some is left, so this is ready.
#[inline]
fn spend(cx: &mut Context<'_>) {
    let _ready = pin!(consume_budget()).poll(cx);
}

/// Makes tokio's error, which only tokio's own locks can construct.
#[cold]
pub(super) fn would_block() -> TryLockError {
    let lock = tokio::sync::Mutex::const_new(());
    let _held = lock.try_lock();
    loop {
        if let Err(error) = lock.try_lock() {
            return error;
        }
    }
}
