//! Polls in which a task has used up the budget that tokio gives it: tokio's resources then return
//! `Pending` although they are ready, and have the task polled again later.
//!
//! For that, tokio clones the waker of the poll (or wakes it at once, outside of a scheduler). No
//! other moment of a poll is looked at: a poll that does not clone its waker costs nothing more.

use std::sync::atomic::Ordering;

use turbowish_model::account::task::TaskMeta;

use crate::features;
use crate::hot::dropped::{MistakeCount, MistakeKind};
use crate::hot::{dropped, never_polled, switch, thread};
use crate::runtimes;

/// Where the budget ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ForcedYield {
    /// Proc of the task's root.
    pub(crate) root: u32,
    /// Proc of the innermost call.
    pub(crate) proc: u32,
    /// Await point of that call plus one.
    pub(crate) site: u16,
}

/// Maximum number of distinct places counted.
const LIMIT: usize = 4_096;

/// A clone of the waker of a poll is made, or the waker is woken in the poll.
#[inline]
pub(crate) fn look() {
    if features::SERVER && runtimes::is_forced_to_yield() {
        count();
    }
}

/// Counts the root poll in progress on this thread, once.
#[cold]
fn count() {
    let Some(epoch) = switch::epoch() else { return };
    let place = thread::with_current(epoch, |thread| {
        let here = thread.ledger.current_call();
        let is_new =
            here.task != 0 && thread.forced.swap(here.poll, Ordering::Relaxed) != here.poll;
        is_new.then(|| ForcedYield {
            root: TaskMeta::of(here.task).root(),
            proc: here.proc.wrapping_sub(1),
            site: here.site,
        })
    });
    let Some(place) = place.flatten() else { return };
    let ForcedYield { root, proc, site } = place;
    let key = [root, proc, site.into(), 0];
    dropped::count_within(never_polled::forced_yields(), LIMIT, key, 0);
}

/// Number of root polls by place.
pub(crate) fn all() -> Vec<(ForcedYield, u64)> {
    let all = dropped::all(never_polled::forced_yields()).into_iter();
    let place = |([root, proc, site, _], count): (MistakeKind, MistakeCount)| {
        let site = site as u16;
        (ForcedYield { root, proc, site }, count.times)
    };
    all.map(place).collect()
}
