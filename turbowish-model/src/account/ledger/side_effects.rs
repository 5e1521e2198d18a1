//! Side effects: marks on calls that have taken or given something that a drop would lose. The
//! ledger keeps one bit per call; the caller that marks keeps what it was.

use core::sync::atomic::Ordering::Relaxed;

use super::Ledger;
use super::frame::{Frame, MARKED, OVER, ROOT};
use crate::account::call::{DIRECT, MARK, SITE};

/// A call that had a side effect: it was given an item or a lock, or an item was taken from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marked {
    /// Depth of the call on the stack.
    pub depth: u32,
    /// Await point of the call plus one; 0 if unknown.
    pub site: u16,
    /// The call was not marked in this poll before.
    pub first: bool,
}

/// The outermost call of the innermost chain in which each call awaits the next one directly: all
/// of them resume together, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChainHead {
    /// Distance from the task's root; 0 if it is the root.
    pub level: u32,
    /// Proc id of the call.
    pub proc: u32,
    /// Start of the call's poll, in ticks.
    pub start: u64,
}

impl Ledger {
    /// Marks the innermost call: it has taken or given something. `None` if no call can drop it
    /// before it returns: each call from the task's root on awaits the next one directly.
    #[inline]
    pub fn mark(&self) -> Option<Marked> {
        self.mark_under(&self.head()?)
    }

    /// Same as [`Ledger::mark`], for a [`head`](Self::head) that is already known.
    #[inline]
    pub fn mark_under(&self, head: &ChainHead) -> Option<Marked> {
        let top = self.top().filter(|_| head.level > 0)?;
        Some(self.set_mark(self.depth() - 1, top))
    }

    /// Returns the innermost call if it was marked in this poll or an earlier one, and marks it in
    /// this poll.
    #[inline]
    pub fn marked(&self) -> Option<Marked> {
        let top = self.top().filter(|top| top.has(MARK) && !top.has(ROOT))?;
        Some(self.set_mark(self.depth() - 1, top))
    }

    /// Marks the root of the current task: it has taken something that it may still hold when this
    /// poll ends. Returns whether the root was marked before this poll and not yet in it.
    #[inline]
    pub fn mark_root(&self) -> bool {
        if let Some(before) = self.mark_straight_root() {
            return before;
        }
        let root = self.root_frame();
        let place = root.place.load(Relaxed);
        root.place.store(place | MARK | MARKED, Relaxed);
        place & (MARK | MARKED) == MARK
    }

    /// Returns the id of the task whose root poll at `depth` has just been closed.
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

    /// Stores the caller's await point in the frame of a marked call that has just returned.
    #[cold]
    pub(super) fn hand_up(&self, frame: &Frame) {
        let site = self.top().map_or(0, |top| top.place.load(Relaxed) & SITE);
        let place = frame.place.load(Relaxed);
        frame.place.store(place & !SITE | site, Relaxed);
    }

    /// Await point plus one of the caller of the call that has just returned at `depth`; 0 if
    /// unknown.
    #[must_use]
    pub fn called_at(&self, depth: u32) -> u16 {
        (self.frames.at(depth as usize).place.load(Relaxed) & SITE) as u16
    }

    /// Returns the head of the chain that ends with the innermost call.
    #[inline]
    #[must_use]
    pub fn head(&self) -> Option<ChainHead> {
        let depth = self.head_at(self.depth().checked_sub(1)?);
        let frame = self.frames.at(depth as usize);
        // Below a call without a frame all are awaited directly, from the root on.
        let is_root = !frame.has(OVER);
        Some(ChainHead {
            level: if is_root { 0 } else { self.level(depth) },
            proc: frame.proc(),
            start: frame.start.load(Relaxed),
        })
    }

    /// Whether the innermost call, or one that waits for it, now holds what the chain below `head`
    /// held when it ended. `head` must belong to the current task.
    #[must_use]
    pub fn is_under(&self, head: &ChainHead) -> bool {
        if head.level == 0 {
            return true;
        }
        let base = self.base.load(Relaxed);
        let level = head.level.wrapping_sub(self.skipped(base));
        let depth = base.wrapping_add(level);
        let frame = || self.frames.at(depth as usize);
        depth < self.depth()
            && frame().start.load(Relaxed) == head.start
            && frame().proc() == head.proc
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

    /// Whether the innermost call stands at the await point at which its last poll ended.
    #[must_use]
    pub fn stands(&self) -> bool {
        let top = self.top();
        top.is_some_and(|top| top.has(crate::account::call::PENDING))
    }

    /// Counts a spurious poll of the innermost call: it has not moved, and what it awaits has not
    /// changed.
    pub fn spurious(&self) {
        if let Some(top) = self
            .top()
            .filter(|top| top.has(crate::account::call::PENDING))
        {
            let writing = self.write();
            let row = self.procs.at(top.proc());
            row.site(top.place.load(Relaxed)).spurious();
            drop(writing);
        }
    }
}
