//! Publication of the await stack: the calls that ended pending in a closed poll, on which its task
//! or branch would resume.

use core::sync::atomic::Ordering::Relaxed;

use super::Ledger;
use super::frame::{REUSE_DOWN, REUSE_UNCHANGED};
use crate::account::await_stack::{AwaitFrame, AwaitFrameCell, AwaitStack, AwaitStep};

/// The await stack of a root poll. Dropping it removes these frames from the thread's stack.
#[must_use]
pub struct TakenStack<'a> {
    stack: &'a AwaitStack,
    mark: u32,
}

impl<'a> TakenStack<'a> {
    #[inline(always)]
    pub(crate) const fn of(stack: &'a AwaitStack, mark: u32) -> Self {
        Self { stack, mark }
    }

    /// Passes the calls to `each`, outermost first.
    #[inline]
    pub(crate) fn each(&self, each: impl FnMut(AwaitStep)) {
        self.stack.steps(self.mark).for_each(each);
    }

    /// Returns the frames innermost first, removed ones included; `None` if some are not stored in
    /// place.
    #[inline(always)]
    pub(crate) fn frames(&self) -> Option<&[AwaitFrameCell]> {
        self.stack.frames(self.mark)
    }
}

impl Drop for TakenStack<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.stack.truncate(self.mark);
    }
}

impl Ledger {
    /// Forces the next publication to contain all calls of the current task, which was not
    /// published before.
    pub fn show_all(&self) {
        self.frames
            .at(self.base.load(Relaxed) as usize)
            .invalidate();
        if self.reuse.load(Relaxed) == REUSE_UNCHANGED {
            self.reuse.store(REUSE_DOWN, Relaxed);
        }
        self.shown.moved.store(1, Relaxed);
    }

    /// Whether no call of the current task was first polled, ended or reached another await point
    /// in its root's poll so far.
    #[inline]
    #[must_use]
    pub fn is_unmoved(&self) -> bool {
        self.shown.moved.load(Relaxed) == 0
    }

    /// Takes this root poll's await stack, without the leading calls that have not moved; `None` if
    /// no call of the task was first polled, ended or reached another await point in this poll.
    #[inline]
    pub fn take_await_stack(&self) -> Option<TakenStack<'_>> {
        let closed = self.frames.at(self.depth() as usize);
        let taken = TakenStack::of(&self.shown.await_stack, closed.stack_mark());
        (!self.is_unmoved()).then_some(taken)
    }

    /// Passes the calls that ended pending in the last closed poll to `each`, outermost first, and
    /// keeps them: the chain on which its task would resume.
    pub fn look_at_await_stack(&self, mut each: impl FnMut(AwaitFrame)) {
        let closed = self.frames.at(self.depth() as usize);
        let mark = closed.stack_mark();
        let mut next = None;
        for step in self.shown.await_stack.steps(mark) {
            if step.level() != *next.get_or_insert(step.level()) {
                break;
            }
            next = Some(step.level() + 1);
            each(step.into());
        }
    }
}
