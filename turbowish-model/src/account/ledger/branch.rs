//! Branch detection: a branch is one of several calls that one call polls at the same await point,
//! by hand, in a combinator or in a macro.
//!
//! An await point is a *combinator* (`FORK`) if the caller says so when the call reaches it, or
//! from the moment at which a second call is first polled there while another one is pending. A
//! call that was polled there alone before becomes a branch with its next poll.

use core::sync::atomic::Ordering::Relaxed;

use super::Ledger;
use super::frame::{BESIDE, BRANCH, FOUND};
use crate::account::branch::Parent;
use crate::account::call::{DIRECT, FORK, SITE};

impl Ledger {
    /// Marks the await point of the innermost poll as one that polls several calls. Ignored unless
    /// the innermost poll is one of `proc`.
    #[cold]
    pub fn fork(&self, proc: u32) {
        let Some(top) = self.top() else { return };
        let place = top.place.load(Relaxed);
        if top.proc() == proc && place & DIRECT == 0 {
            top.place.store(place | FORK, Relaxed);
        }
    }

    /// Whether a call that the innermost one polls may turn out to be a branch.
    #[inline]
    #[must_use]
    pub fn may_be_branch(&self) -> bool {
        self.top().is_some_and(|top| top.has(FORK | BESIDE))
    }

    /// Whether the innermost poll is that of a branch.
    #[inline]
    #[must_use]
    pub fn is_branch(&self) -> bool {
        self.top().is_some_and(|top| top.has(BRANCH))
    }

    /// Sets the id of the branch whose poll is innermost; polls nested in it get `id` as
    /// [`Parent::within`].
    pub fn name_branch(&self, id: u64) {
        if let Some(top) = self.top() {
            top.key.store(id, Relaxed);
        }
    }

    /// Returns the parent of the call at `depth`, whose poll has just begun or ended.
    #[must_use]
    pub fn parent(&self, depth: u32) -> Parent {
        let base = self.base.load(Relaxed);
        let Some(at) = depth.checked_sub(1).filter(|&at| at >= base) else {
            return Parent::default();
        };
        let frame = self.frames.at(at as usize);
        let mut around = (base + 1..=at).rev();
        let within = around.find_map(|at| {
            let key = self.frames.at(at as usize).key.load(Relaxed);
            (key != 0).then_some(key)
        });
        Parent {
            within: within.unwrap_or(0),
            level: self.level(at),
            proc: frame.proc(),
            site: (frame.place.load(Relaxed) & SITE) as u16,
        }
    }

    /// Whether the current poll was the first to show that the parent of the innermost call polls
    /// several calls where it stands. `true` once, then `false`.
    #[must_use]
    pub fn is_new_fork(&self) -> bool {
        let Some(at) = self.depth().checked_sub(2) else {
            return false;
        };
        let place = &self.frames.at(at as usize).place;
        let before = place.load(Relaxed);
        place.store(before & !FOUND, Relaxed);
        before & FOUND != 0
    }
}
