//! Which calls have taken or given something that a drop would lose. The ledger keeps a bit of each; what it was is kept by who marks.

use core::sync::atomic::Ordering::Relaxed;

use super::Ledger;
use super::frame::{Frame, MARKED, ROOT};
use crate::account::call::{DIRECT, MARK, SITE};

/// A call that is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marked {
    /// Its depth on the stack.
    pub depth: u32,
    /// The await point where it stands, plus one; 0 if unknown.
    pub site: u16,
    /// It is the first time in this poll.
    pub first: bool,
}

/// The outermost call from which on each awaits the next one directly, up to the innermost: all of them go on together, or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChainHead {
    /// Distance from the task's root; 0 if it is the root.
    pub level: u32,
    /// Its proc.
    pub proc: u32,
    /// When its poll began.
    pub start: u64,
}

impl Ledger {
    /// The innermost call has taken or given something. `None` if nobody can drop it before it returns: each call from the task's root on
    /// awaits the next one directly.
    #[inline]
    pub fn mark(&self) -> Option<Marked> {
        self.mark_under(&self.head()?)
    }

    /// The same where the [`head`](Self::head) is known.
    #[inline]
    pub fn mark_under(&self, head: &ChainHead) -> Option<Marked> {
        let top = self.top().filter(|_| head.level > 0)?;
        Some(self.set_mark(self.depth() - 1, top))
    }

    /// The innermost call, if it was marked before, in this poll or in an earlier one; it is marked in this one from now on.
    #[inline]
    pub fn marked(&self) -> Option<Marked> {
        let top = self.top().filter(|top| top.has(MARK) && !top.has(ROOT))?;
        Some(self.set_mark(self.depth() - 1, top))
    }

    /// The task at hand has taken something that it may still have when this poll is over: its root is marked. Returns whether it was marked
    /// when this poll began, and not since.
    #[inline]
    pub fn mark_root(&self) -> bool {
        let root = self.frames.at(self.base.load(Relaxed) as usize);
        let place = root.place.load(Relaxed);
        root.place.store(place | MARK | MARKED, Relaxed);
        place & (MARK | MARKED) == MARK
    }

    /// The task whose root poll at `depth` has just been closed.
    #[must_use]
    pub fn closed_task(&self, depth: u32) -> u64 {
        self.frames.at(depth as usize).key.load(Relaxed)
    }

    fn set_mark(&self, depth: u32, frame: &Frame) -> Marked {
        let place = frame.place.load(Relaxed);
        frame.place.store(place | MARK | MARKED, Relaxed);
        Marked {
            depth,
            site: (place & SITE) as u16,
            first: place & MARKED == 0,
        }
    }

    /// Whether the poll at `depth`, which has just been closed, marked its call.
    #[must_use]
    pub fn has_marked(&self, depth: u32) -> bool {
        self.frames.at(depth as usize).has(MARKED)
    }

    /// A marked call has returned: its frame says from now on where the one stood that called it.
    #[cold]
    pub(super) fn hand_up(&self, frame: &Frame) {
        let site = self.top().map_or(0, |top| top.place.load(Relaxed) & SITE);
        let place = frame.place.load(Relaxed);
        frame.place.store(place & !SITE | site, Relaxed);
    }

    /// Where the one stood, plus one, whose call has returned at `depth` just now.
    #[must_use]
    pub fn called_at(&self, depth: u32) -> u16 {
        (self.frames.at(depth as usize).place.load(Relaxed) & SITE) as u16
    }

    /// The head of the chain that the innermost call is the end of.
    #[inline]
    #[must_use]
    pub fn head(&self) -> Option<ChainHead> {
        let depth = self.head_at(self.depth().checked_sub(1)?);
        let frame = self.frames.at(depth as usize);
        Some(ChainHead {
            level: depth - self.base.load(Relaxed),
            proc: frame.proc.load(Relaxed),
            start: frame.start.load(Relaxed),
        })
    }

    /// Whether what the chain below `head` held, when it ended there, is held by the innermost call or one that waits for it. `head` is of the
    /// task at hand.
    #[must_use]
    pub fn is_under(&self, head: &ChainHead) -> bool {
        let depth = self.base.load(Relaxed) + head.level;
        let frame = || self.frames.at(depth as usize);
        head.level == 0
            || depth < self.depth()
                && frame().start.load(Relaxed) == head.start
                && frame().proc.load(Relaxed) == head.proc
    }

    #[inline]
    fn head_at(&self, top: u32) -> u32 {
        let base = self.base.load(Relaxed);
        let mut depth = top;
        while depth > base && self.frames.at(depth as usize - 1).has(DIRECT) {
            depth -= 1;
        }
        depth
    }

    /// The innermost call was polled again and stands where it stood: what it waits for there has not changed.
    pub fn spurious(&self) {
        if let Some(top) = self
            .top()
            .filter(|top| top.has(crate::account::call::PENDING))
        {
            let writing = self.write();
            let row = self.rows.at(top.proc.load(Relaxed));
            row.site(top.place.load(Relaxed)).spurious();
            drop(writing);
        }
    }
}
