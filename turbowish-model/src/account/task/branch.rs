//! Published state of a branch: a cell like the task's own, with the parent in place of sums that a
//! branch does not have, and the level of its first frame in place of the running time.

use core::sync::atomic::Ordering::Relaxed;

use super::{CHAIN, CellOwner, Publication, TaskCell};
use crate::account::branch::{BranchReading, Parent};
use crate::account::paths::Paths;

impl<O: CellOwner> TaskCell<O> {
    /// Starts a branch's poll on a thread.
    #[inline]
    pub fn begin_branch(&self, thread: u32) {
        self.polled_as_branch(thread);
    }

    /// Ends a branch's poll as pending, in the given epoch and in the root poll that began at
    /// `began`. `await_stack` passes the branch's await stack, outermost first; the first [`CHAIN`]
    /// frames are kept.
    pub fn end_branch(
        &self,
        epoch: u32,
        began: u64,
        parent: Parent,
        table: &Paths,
        await_stack: impl FnOnce(&mut Publication<'_, O>),
    ) {
        let writing = self.sequence.write();
        self.set_epoch(epoch);
        self.since.store(began, Relaxed);
        self.ready_by.store(parent.within, Relaxed);
        self.latency.store(parent.level, Relaxed);
        self.span.store(parent.proc, Relaxed);
        self.sums.longest.store(parent.site.into(), Relaxed);
        let mut stack = Publication::new(self, table, CHAIN as u32);
        await_stack(&mut stack);
        self.sums.running.store(stack.end(), Relaxed);
        drop(writing);
    }

    /// Ends a branch's poll as pending where it waited before, in the root poll that began at
    /// `began`. Returns whether that is known in this epoch.
    #[inline]
    pub fn stay(&self, epoch: u32, began: u64) -> bool {
        let is_known = self.is_of_epoch(epoch);
        if is_known {
            // One word: a reader sees the state before or after it.
            self.since.store(began, Relaxed);
        }
        is_known
    }

    /// Reads the branch. Also returns the epoch of its last poll that ended pending.
    pub fn read_branch(&self, table: &Paths, relax: &mut dyn FnMut()) -> (BranchReading, u32) {
        self.sequence.read(relax, || {
            let reading = BranchReading {
                id: self.id(),
                parent: Parent {
                    within: self.ready_by.load(Relaxed),
                    level: self.latency.load(Relaxed),
                    proc: self.span.load(Relaxed),
                    site: self.sums.longest.load(Relaxed) as u16,
                },
                polled: self.since.load(Relaxed),
                woken: None,
                chain: self.stack(table, self.sums.running.load(Relaxed)).0,
            };
            (reading, self.poller().epoch)
        })
    }
}
