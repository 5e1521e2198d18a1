//! Runtimes as tokio reports them.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Poll, RawWakerVTable};

use ::tokio::runtime::{Builder, Handle, Id, RuntimeMetrics};

use crate::lock::lock;

/// A runtime, kept while a thread lives that was seen in it.
pub(crate) struct Seen {
    id: Id,
    metrics: RuntimeMetrics,
}

/// Runtimes of this process.
struct Runtimes {
    seen: Mutex<Vec<Weak<Seen>>>,
    /// The runtime in which TurboWish was started: its threads may never poll a call.
    home: Mutex<Option<Arc<Seen>>>,
}

static RUNTIMES: Runtimes = Runtimes {
    seen: Mutex::new(Vec::new()),
    home: Mutex::new(None),
};

/// All runtimes seen. Dropping the last reference to a runtime may run any code, so none is
/// dropped under the lock. Nor is memory allocated under it: the application's allocator may
/// count, which may lead back here.
fn all() -> Vec<Arc<Seen>> {
    let mut all = Vec::new();
    loop {
        let seen = lock(&RUNTIMES.seen);
        if seen.len() <= all.capacity() {
            all.extend(seen.iter().filter_map(Weak::upgrade));
            return all;
        }
        let room = seen.len();
        drop(seen);
        all.reserve_exact(room);
    }
}

/// The runtime of the caller.
pub(crate) fn current() -> Option<Arc<Seen>> {
    let handle = Handle::try_current().ok()?;
    let id = handle.id();
    if let Some(known) = all().into_iter().find(|known| known.id == id) {
        return Some(known);
    }
    let metrics = handle.metrics();
    let fresh = Arc::new(Seen { id, metrics });
    let mut seen = lock(&RUNTIMES.seen);
    seen.retain(|known| known.strong_count() > 0);
    seen.push(Arc::downgrade(&fresh));
    Some(fresh)
}

/// Records the runtime of the caller as the one in which TurboWish was started.
pub(crate) fn note() {
    let home = current();
    let before = std::mem::replace(&mut *lock(&RUNTIMES.home), home);
    drop(before);
}

/// Drops the reference to it.
pub(crate) fn forget() {
    let before = lock(&RUNTIMES.home).take();
    drop(before);
}

/// Number of live tasks of all runtimes seen; `None` if none was.
pub(crate) fn tasks() -> Option<u64> {
    // Two threads may have recorded a runtime at the same moment.
    let seen: HashMap<Id, Arc<Seen>> = all().into_iter().map(|seen| (seen.id, seen)).collect();
    let tasks = seen
        .values()
        .map(|seen| seen.metrics.num_alive_tasks() as u64);
    (!seen.is_empty()).then(|| tasks.sum())
}

/// Whether the code polled on this thread belongs to no task of a runtime: a thread blocks on
/// it, or another executor polls it.
pub(crate) fn is_outside() -> bool {
    ::tokio::task::try_id().is_none()
}

/// The runtime's task that is polled on a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunningTask(Option<::tokio::task::Id>);

impl RunningTask {
    pub(crate) const NONE: Self = Self(None);

    /// Whether there is a task, and it is not `around`.
    pub(crate) fn is_other_than(self, around: Self) -> bool {
        self.0.is_some() && self != around
    }
}

/// The task polled on this thread; that of the innermost runtime, if one blocks in another
/// one's poll.
#[inline]
pub(crate) fn running_task() -> RunningTask {
    RunningTask(::tokio::task::try_id())
}

/// Whether tokio forces the running task to yield, after much work in one poll: then the task wakes
/// itself, but does not spin.
pub(crate) fn is_forced_to_yield() -> bool {
    !::tokio::task::coop::has_budget_remaining()
}

/// Vtables of the waker of a blocked thread and of that of a current-thread runtime. Not to be
/// called inside a runtime.
pub(crate) fn blocking_wakers() -> Option<[&'static RawWakerVTable; 2]> {
    let runtime = Builder::new_current_thread().build().ok()?;
    let vtable = || poll_fn(|cx| Poll::Ready(cx.waker().vtable()));
    Some([
        runtime.handle().block_on(vtable()),
        runtime.block_on(vtable()),
    ])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{all, current};

    #[test]
    fn a_runtime_is_seen_once_and_for_as_long_as_somebody_stands_for_it() {
        assert!(current().is_none(), "no runtime around");
        let runtime = ::tokio::runtime::Runtime::new().expect("it starts");
        let seen = runtime.block_on(async { current() }).expect("it is there");
        runtime.spawn(std::future::pending::<()>());
        let id = seen.id;
        let elsewhere = std::thread::scope(|scope| {
            let other = scope.spawn(|| runtime.block_on(async { current() }));
            other.join().expect("it does not panic")
        });
        assert!(Arc::ptr_eq(&seen, &elsewhere.expect("it is there")));
        assert_eq!(seen.metrics.num_alive_tasks(), 1);
        let is_known = || all().iter().any(|known| known.id == id);
        assert!(is_known());
        drop(seen);
        assert!(!is_known());
    }
}
