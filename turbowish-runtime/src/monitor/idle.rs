//! Idle waits: await points at which the root of a task waits again and again for a timer, or for
//! an item of a channel; or, perhaps once, for a notification. What a future waits for is known for
//! instrumented primitives only.

use turbowish_model::account::resource::{Kind, Reading, Role};
use turbowish_model::account::task::TaskMeta;
use turbowish_model::collect::assemble::IdleWait;
use turbowish_model::ordered::Map;

use crate::hot::current::CurrentCall;
use crate::resource;

/// Waits of roots, by proc, and await point plus one.
#[derive(Debug, Default)]
pub(super) struct IdleWaits {
    by_site: Map<(u32, u16), RootWait>,
    /// Number of looks.
    looks: u64,
}

/// Looks after which another task is followed instead of one that does not wait there any more.
const PATIENCE: u64 = 8;

/// A wait of the root of a task.
#[derive(Clone, Copy, Debug)]
struct RootWait {
    what: IdleWait,
    task: u64,
    /// Start of the wait, in ticks.
    since: u64,
    /// The task has waited there before, for the same.
    again: bool,
    /// The look that saw it last.
    seen: u64,
}

impl IdleWaits {
    /// Adds the waits in progress, those of `resources` and those for timers.
    pub(super) fn look(&mut self, resources: &[Reading]) {
        self.looks += 1;
        resource::each_timer(|timer| self.add(timer.who, timer.since, IdleWait::Timer));
        for reading in resources {
            let (role, what) = match reading.kind {
                Kind::Mpsc | Kind::Broadcast => (Role::Receive, IdleWait::Item),
                Kind::Notify => (Role::Wait, IdleWait::Notice),
                _ => continue,
            };
            let waiters = reading.waiters.iter();
            for waiter in waiters.filter(|waiter| waiter.role == role) {
                self.add(waiter.who, waiter.since, what);
            }
        }
    }

    fn add(&mut self, who: CurrentCall, since: u64, what: IdleWait) {
        let task = who.task;
        let root = TaskMeta::of(task).root();
        let Some(proc) = who.proc.checked_sub(1).filter(|proc| *proc == root) else {
            return;
        };
        let fresh = RootWait {
            what,
            task,
            since,
            again: false,
            seen: self.looks,
        };
        let known = self.by_site.entry((proc, who.site)).or_insert(fresh);
        if known.task == task {
            let again = known.again || known.since != since;
            *known = RootWait { again, ..fresh };
        } else if !known.again && known.seen + PATIENCE < self.looks {
            *known = fresh;
        }
    }

    /// What is awaited at an await point.
    pub(super) fn at(&self, proc: u32, site: u16) -> Option<IdleWait> {
        let wait = self.by_site.get(&(proc, site))?;
        (wait.again || wait.what == IdleWait::Notice).then_some(wait.what)
    }
}
