//! Captures: a reader sees the whole ledger as it was between two events, also while its thread
//! polls without a pause.
//!
//! The reader asks for a capture. The thread notices that at its next event, before it changes
//! anything: it copies its open polls, and from then on each row before its first change. If there
//! is no event meanwhile, the reader reads everything as it is.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::{Frame, Ledger};
use crate::account::append_vec::AppendVec;
use crate::account::sync::{AtomicU32, AtomicU64, fence, in_place, spin_loop};

/// Open polls of a capture that are stored in place.
const FRAMES: usize = in_place(16);

/// Attempts until a torn read is accepted. Reached only if the thread is gone for good in the
/// middle of an event: the threads that a child of `fork` does not have.
const TRIES: u32 = 1 << 18;

/// The last capture of a ledger's reader.
#[derive(Default)]
pub(super) struct Capture {
    /// Number of the capture that the reader asks for.
    asked: AtomicU32,
    /// Number of the last capture that the thread has noticed.
    pub(super) noticed: AtomicU32,
    depth: AtomicU32,
    busy: AtomicU64,
    latest: AtomicU64,
    frames: AppendVec<Frame, FRAMES>,
}

/// What a reader sees.
pub(crate) enum Captured<T> {
    /// The ledger as it is now: no event has come in between.
    Now(T),
    /// The ledger at the capture with this number: rows are to be read as they were kept.
    Kept(u32),
}

impl Capture {
    /// Number of the last capture that the thread has noticed; `None` if there is another one to
    /// notice.
    #[inline(always)]
    pub(super) fn noticed(&self) -> Option<u32> {
        let noticed = self.noticed.load(Relaxed);
        (self.asked.load(Relaxed) == noticed).then_some(noticed)
    }
}

impl Ledger {
    /// Notices that a capture was asked for. At the beginning of each event.
    #[inline(always)]
    pub(super) fn notice(&self) {
        let asked = self.capture.asked.load(Relaxed);
        if asked != self.capture.noticed.load(Relaxed) {
            self.keep(asked);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep(&self, asked: u32) {
        let (capture, depth) = (&self.capture, self.depth());
        for at in 0..depth {
            let frame = self.frames.at(at as usize);
            capture.frames.at(at as usize).copy(frame);
        }
        capture.depth.store(depth, Relaxed);
        capture.busy.store(self.busy(), Relaxed);
        capture.latest.store(self.latest(), Relaxed);
        // Release: a reader that sees the number also sees the polls.
        capture.noticed.store(asked, Release);
        fence(Release);
    }

    /// Captures the ledger: by `attempt`, which reads it as it is, or by what the thread keeps from
    /// its next event on. `relax` lets other threads run. One reader at a time may call this.
    pub(crate) fn capture<T>(
        &self,
        relax: &mut dyn FnMut(),
        mut attempt: impl FnMut() -> T,
    ) -> Captured<T> {
        let asked = self.capture.asked.load(Relaxed).wrapping_add(1);
        // Release and the seqlock: an event that begins after the next attempt notices this.
        self.capture.asked.store(asked, Release);
        fence(Release);
        for _ in 0..TRIES {
            if let Some(seen) = self.sequence.try_read(1, &mut attempt) {
                return Captured::Now(seen);
            }
            if self.capture.noticed.load(Acquire) == asked {
                return Captured::Kept(asked);
            }
            relax();
            spin_loop();
        }
        Captured::Now(attempt())
    }

    /// Number of open polls, busy time and last event at the capture that was noticed last.
    pub(crate) fn kept(&self) -> (u32, u64, u64) {
        let capture = &self.capture;
        (
            capture.depth.load(Relaxed),
            capture.busy.load(Relaxed),
            capture.latest.load(Relaxed),
        )
    }

    /// An open poll at that capture.
    pub(crate) fn kept_frame(&self, depth: u32) -> Option<&Frame> {
        self.capture.frames.get(depth as usize)
    }
}
