//! Looks: a reader sees the whole ledger as it was between two events, also while its thread polls
//! without a pause.
//!
//! The reader asks for a look. The thread notices that at its next event, before it changes
//! anything: it copies its open polls, and from then on each row before its first change. If there
//! is no event meanwhile, the reader reads everything as it is.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::{Frame, Ledger};
use crate::account::append_vec::AppendVec;
use crate::account::sync::{AtomicU32, AtomicU64, fence, in_place};

/// Open polls of a look that are stored in place.
const FRAMES: usize = in_place(16);

/// Attempts until a torn read is accepted. Reached only if the thread is gone for good in the middle
/// of an event: the threads that a child of `fork` does not have.
const TRIES: u32 = 1 << 18;

/// The last look of a ledger's reader.
#[derive(Default)]
pub(super) struct Look {
    /// Number of the look that the reader asks for.
    asked: AtomicU32,
    /// Number of the last look that the thread has noticed.
    pub(super) noticed: AtomicU32,
    depth: AtomicU32,
    busy: AtomicU64,
    latest: AtomicU64,
    frames: AppendVec<Frame, FRAMES>,
}

/// What a reader sees.
pub(crate) enum Seen<T> {
    /// The ledger as it is now: no event has come in between.
    Now(T),
    /// The ledger at the look with this number: rows are to be read as they were kept.
    Kept(u32),
}

impl Ledger {
    /// Notices that a look was asked for. At the beginning of each event.
    #[inline(always)]
    pub(super) fn notice(&self) {
        let asked = self.look.asked.load(Relaxed);
        if asked != self.look.noticed.load(Relaxed) {
            self.keep(asked);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep(&self, asked: u32) {
        let (look, depth) = (&self.look, self.depth());
        for at in 0..depth {
            let frame = self.frames.at(at as usize);
            look.frames.at(at as usize).copy(frame);
        }
        look.depth.store(depth, Relaxed);
        look.busy.store(self.busy(), Relaxed);
        look.latest.store(self.latest(), Relaxed);
        // Release: a reader that sees the number also sees the polls.
        look.noticed.store(asked, Release);
        fence(Release);
    }

    /// Looks at the ledger: by `attempt`, which reads it as it is, or by what the thread keeps from
    /// its next event on. `relax` lets other threads run. One reader at a time may call this.
    pub(crate) fn look<T>(
        &self,
        relax: &mut dyn FnMut(),
        mut attempt: impl FnMut() -> T,
    ) -> Seen<T> {
        let asked = self.look.asked.load(Relaxed).wrapping_add(1);
        // Release and the seqlock: an event that begins after the next attempt notices this.
        self.look.asked.store(asked, Release);
        fence(Release);
        for _ in 0..TRIES {
            if let Some(seen) = self.sequence.try_read(1, &mut attempt) {
                return Seen::Now(seen);
            }
            if self.look.noticed.load(Acquire) == asked {
                return Seen::Kept(asked);
            }
            relax();
        }
        Seen::Now(attempt())
    }

    /// Number of open polls, busy time and last event at the look that was noticed last.
    pub(crate) fn kept(&self) -> (u32, u64, u64) {
        let look = &self.look;
        (
            look.depth.load(Relaxed),
            look.busy.load(Relaxed),
            look.latest.load(Relaxed),
        )
    }

    /// An open poll at that look.
    pub(crate) fn kept_frame(&self, depth: u32) -> Option<&Frame> {
        self.look.frames.get(depth as usize)
    }
}
