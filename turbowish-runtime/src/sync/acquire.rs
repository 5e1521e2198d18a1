//! Acquisition shared by the locks: takes what is free at once, otherwise waits, observed as a
//! waiter of the resource.

use std::pin::pin;
use std::task::{Context, Waker};

use tokio::task::coop::{consume_budget, has_budget_remaining};

/// Takes a lock that is free, or waits for it: `acquire!(lock, role, at, now, later)`, where `now`
/// and `later` are methods of tokio's lock.
macro_rules! acquire {
    ($lock:expr, $role:expr, $at:expr, $now:ident, $later:ident) => {
        'acquire: {
            let Self { resource, inner } = $lock;
            // Nothing of this attempt is kept across the wait, so the future is no less `Sync` for
            // it.
            if let Some(got) = $crate::sync::acquire::within_budget(|| inner.$now().ok()) {
                break 'acquire got;
            }
            resource.wait($role, 1, $at, inner.$later()).await
        }
    };
}
pub(super) use acquire;

/// Runs `attempt` within the task's coop budget; `None` if no budget is left.
#[inline]
pub(super) fn within_budget<T>(attempt: impl FnOnce() -> Option<T>) -> Option<T> {
    if !has_budget_remaining() {
        return None;
    }
    let got = attempt()?;
    spend();
    Some(got)
}

/// Spends one unit of the task's budget. Some is left, so this is ready.
#[inline]
fn spend() {
    let cx = &mut Context::from_waker(Waker::noop());
    let _ready = pin!(consume_budget()).poll(cx);
}
