//! When, and in which task, the longest poll and the longest wait of a path were: in the reader's
//! tick, and since the start.
//!
//! Nothing of it is on the way of a poll but a comparison with the maximum of the tick.

use core::sync::atomic::Ordering::Relaxed;

use super::Ledger;
use super::frame::{Frame, OVER};
use crate::account::aggregate::{LongestPoll, LongestWait};
use crate::account::counters::{LongestWords, PathCounters};

impl Ledger {
    /// Adds a poll to the longest ones. Its call waited at `stood` before: the await point plus
    /// one, or 0.
    #[inline(always)]
    pub(super) fn longest(
        &self,
        row: &PathCounters,
        of: &'static LongestWords,
        (frame, stood): (&Frame, impl FnOnce() -> u32),
        hold: u64,
    ) {
        if row.is_longest(of, self.time.tick.load(Relaxed), hold) {
            self.keep_longest(row, of, (frame, stood()), hold);
        }
    }

    /// Keeps the longest poll of the tick, which ends now.
    #[cold]
    #[inline(never)]
    fn keep_longest(
        &self,
        row: &PathCounters,
        of: &LongestWords,
        (frame, stood): (&Frame, u32),
        hold: u64,
    ) {
        let poll = LongestPoll {
            hold,
            end: self.time.last.load(Relaxed),
            task: self.task_of(frame),
            after: stood,
            // The reader knows whose counters it reads.
            ..LongestPoll::default()
        };
        row.keep_longest(of, self.time.tick.load(Relaxed), &poll);
    }

    /// Records a wait that ended with the poll of this frame: of every level of a span, or of its
    /// level alone.
    #[inline(always)]
    pub(super) fn end_wait_of(
        &self,
        row: &PathCounters,
        is_span: bool,
        frame: &Frame,
        waited: u64,
    ) {
        let is_longest = match is_span {
            true => row.charge_span_wait(waited),
            false => row.charge_wait(waited),
        };
        if is_longest {
            self.keep_longest_wait(row, is_span, frame, waited);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep_longest_wait(&self, row: &PathCounters, is_span: bool, frame: &Frame, waited: u64) {
        let wait = LongestWait {
            waited,
            end: frame.start.load(Relaxed),
            task: self.task_of(frame),
        };
        row.keep_longest_wait(is_span, &wait);
    }

    /// The task in whose poll this frame is, or was until now.
    fn task_of(&self, frame: &Frame) -> u64 {
        let root = match frame.has(OVER) {
            true => self.root_frame(),
            false => frame,
        };
        root.key.load(Relaxed)
    }
}
