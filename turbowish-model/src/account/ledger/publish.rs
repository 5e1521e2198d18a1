//! What a closed poll tells of the calls that ended pending in it: the chain on which its task, or its branch, would go on.

use core::sync::atomic::Ordering::Relaxed;

use super::Ledger;
use super::frame::{REUSE_DOWN, REUSE_UNCHANGED};
use crate::account::await_stack::AwaitFrame;

impl Ledger {
    /// The task at hand has not been shown before: all of its calls are to be on the trail.
    pub fn show_all(&self) {
        self.frames
            .at(self.base.load(Relaxed) as usize)
            .invalidate();
        if self.still.load(Relaxed) == REUSE_UNCHANGED {
            self.still.store(REUSE_DOWN, Relaxed);
        }
        self.moved.store(1, Relaxed);
    }

    /// What this root poll's chain of pending calls was, outermost first, without those that it begins with and that stand
    /// where they stood before; then forgets it.
    ///
    /// Returns `false`, and hands out nothing, if no call of the task came anywhere new in this poll.
    #[inline]
    pub fn take_await_stack(&self, each: impl FnMut(AwaitFrame)) -> bool {
        let closed = self.frames.at(self.depth() as usize);
        let mark = closed.stack_mark.load(Relaxed);
        let moved = self.moved.load(Relaxed) != 0;
        if moved {
            self.trail.take(mark, each);
        } else {
            self.trail.truncate(mark);
        }
        moved
    }

    /// The calls that ended pending in the poll that was closed last, outermost first: the chain on which its task would go on.
    pub fn look_at_await_stack(&self, mut each: impl FnMut(AwaitFrame)) {
        let closed = self.frames.at(self.depth() as usize);
        let mark = closed.stack_mark.load(Relaxed);
        let mut next = None;
        self.trail.look(mark, |step| {
            let expected = *next.get_or_insert(step.level);
            if step.level == expected {
                each(step);
                next = Some(expected + 1);
            }
            step.level == expected
        });
    }
}
