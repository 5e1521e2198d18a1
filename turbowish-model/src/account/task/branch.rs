//! Published state of a branch: a cell like the task's own, with the parent in place of sums that a
//! branch does not have.

use core::sync::atomic::Ordering::Relaxed;

use super::{CHAIN, TaskCell};
use crate::account::await_stack::AwaitFrame;
use crate::account::branch::{BranchReading, Parent};

impl TaskCell {
    /// Starts a branch's poll on a thread.
    #[inline]
    pub fn begin_branch(&self, thread: u32) {
        self.thread.store(thread.wrapping_add(1), Relaxed);
    }

    /// Ends a branch's poll as pending, in the given epoch and in the root poll that began at
    /// `began`. `await_stack` passes the branch's await stack, outermost first; the first [`CHAIN`]
    /// frames are kept.
    pub fn end_branch(
        &self,
        epoch: u32,
        began: u64,
        parent: Parent,
        await_stack: impl FnOnce(&mut dyn FnMut(AwaitFrame)),
    ) {
        let writing = self.sequence.write();
        self.epoch.store(epoch, Relaxed);
        self.since.store(began, Relaxed);
        self.ready_by.store(parent.within, Relaxed);
        self.latency.store(parent.level, Relaxed);
        self.span.store(parent.proc, Relaxed);
        self.longest.store(parent.site.into(), Relaxed);
        let mut len = 0;
        await_stack(&mut |step| {
            if len < CHAIN {
                self.step(len).store(step);
                len += 1;
            }
        });
        self.len.store(len as u32, Relaxed);
        drop(writing);
    }

    /// Reads the branch. Also returns the epoch of its last poll that ended pending.
    pub fn read_branch(&self, relax: &mut dyn FnMut()) -> (BranchReading, u32) {
        self.sequence.read(relax, || {
            let kept = (self.len.load(Relaxed) as usize).min(CHAIN);
            let reading = BranchReading {
                id: self.id(),
                parent: Parent {
                    within: self.ready_by.load(Relaxed),
                    level: self.latency.load(Relaxed),
                    proc: self.span.load(Relaxed),
                    site: self.longest.load(Relaxed) as u16,
                },
                polled: self.since.load(Relaxed),
                woken: None,
                chain: (0..kept)
                    .map_while(|index| self.known_step(index))
                    .collect(),
            };
            (reading, self.epoch.load(Relaxed))
        })
    }
}
