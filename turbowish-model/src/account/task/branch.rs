//! Published state of a branch: a cell like the task's own, with the parent in the last slot.

use core::sync::atomic::Ordering::Relaxed;

use super::{CHAIN, TaskCell};
use crate::account::await_stack::AwaitFrame;
use crate::account::branch::{BranchReading, Parent};

impl TaskCell {
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
        self.began.store(began, Relaxed);
        self.steps.at(CHAIN).store(AwaitFrame {
            level: parent.level,
            proc: parent.proc,
            site: parent.site,
            direct: false,
            since: parent.within,
        });
        let mut len = 0;
        await_stack(&mut |step| {
            if len < CHAIN {
                self.steps.at(len).store(step);
                len += 1;
            }
        });
        self.len.store(len as u32, Relaxed);
        drop(writing);
    }

    /// Reads the branch. Also returns the epoch of its last poll that ended pending.
    pub fn read_branch(&self, relax: &mut dyn FnMut()) -> (BranchReading, u32) {
        self.sequence.read(relax, || {
            let parent = self.steps.at(CHAIN).load();
            let kept = (self.len.load(Relaxed) as usize).min(CHAIN);
            let reading = BranchReading {
                id: self.id(),
                parent: Parent {
                    within: parent.since,
                    level: parent.level,
                    proc: parent.proc,
                    site: parent.site,
                },
                polled: self.began.load(Relaxed),
                woken: None,
                chain: (0..kept).map(|index| self.steps.at(index).load()).collect(),
            };
            (reading, self.epoch.load(Relaxed))
        })
    }
}
