//! What the quick ends of polls write, found before anything is written.

use super::path::{PathCounters, Shared, Word};
use crate::account::histogram::add;
use crate::account::sync::AtomicU64;

/// Where a poll is counted.
pub(crate) struct PollBuckets<'a> {
    hold: &'a AtomicU64,
    /// Of its exclusive time, if something was nested in it.
    running: Option<&'a AtomicU64>,
}

/// Where a call is counted that has ended.
pub(crate) struct CallBuckets<'a> {
    running: &'a AtomicU64,
    /// Of its inclusive time, if that is another.
    inclusive: Option<&'a AtomicU64>,
    wall: &'a AtomicU64,
}

impl PathCounters {
    /// The counter of a value, if there is one already.
    #[inline(always)]
    pub(crate) fn bucket(&self, shared: Shared, value: u64) -> Option<&AtomicU64> {
        self.histogram(shared)?.bucket(value)
    }

    /// Where [`PathCounters::record_poll`] counts a poll.
    #[inline(always)]
    pub(crate) fn poll_buckets(
        &self,
        hold: u64,
        nested: u64,
        [leaf, around]: [Shared; 2],
    ) -> Option<PollBuckets<'_>> {
        if nested == 0 {
            let hold = self.bucket(leaf, hold)?;
            return Some(PollBuckets {
                hold,
                running: None,
            });
        }
        let running = match hold - nested {
            0 => self.word(Word::Idle),
            running => self.bucket(Shared::Running, running)?,
        };
        Some(PollBuckets {
            hold: self.bucket(around, hold)?,
            running: Some(running),
        })
    }

    /// Counts a poll there.
    #[inline(always)]
    pub(crate) fn record_in(&self, buckets: &PollBuckets<'_>, running: u64) {
        self.raise(Word::LongestRunning, running);
        add(buckets.hold, 1);
        if let Some(running) = buckets.running {
            add(running, 1);
        }
    }

    /// Where an ended wait of every level of a span is counted, unless it is the longest one of the
    /// tick.
    #[inline(always)]
    pub(crate) fn span_wait_bucket(&self, waited: u64) -> Option<&AtomicU64> {
        if waited > self.get(Word::SpanWaitBar) {
            return None;
        }
        self.bucket(Shared::SpanWait, waited)
    }

    /// Begins a wait of every level of a span, at `t`.
    #[inline(always)]
    pub(crate) fn begin_span_wait(&self, t: u64) {
        self.subtract(Word::SpanWaited, t);
        self.add(Word::SpanOpen, 1);
    }

    /// Ends a wait of every level of a span, and counts it there. The times are its end and its
    /// duration.
    #[inline(always)]
    pub(crate) fn end_span_wait(&self, [end, waited]: [u64; 2], bucket: &AtomicU64) {
        self.add(Word::SpanWaited, end);
        self.subtract(Word::SpanOpen, 1);
        self.add(Word::SpanWaits, waited);
        add(bucket, 1);
    }

    /// Where [`PathCounters::charge_call`] counts a call.
    #[inline(always)]
    pub(crate) fn call_buckets(
        &self,
        running: u64,
        inclusive: u64,
        wall: u64,
    ) -> Option<CallBuckets<'_>> {
        let wall = self.bucket(Shared::CallWall, wall)?;
        if running == inclusive {
            let running = self.bucket(Shared::Call, running)?;
            return Some(CallBuckets {
                running,
                inclusive: None,
                wall,
            });
        }
        Some(CallBuckets {
            running: self.bucket(Shared::CallRunning, running)?,
            inclusive: Some(self.bucket(Shared::CallInclusive, inclusive)?),
            wall,
        })
    }

    /// Charges an ended call, and counts it there.
    #[inline(always)]
    pub(crate) fn charge_call_in(
        &self,
        buckets: &CallBuckets<'_>,
        running: u64,
        inclusive: u64,
        wall: u64,
    ) {
        self.add_call(running, inclusive, wall);
        if let Some(bucket) = buckets.inclusive {
            self.add(Word::CallNested, inclusive.wrapping_sub(running));
            add(bucket, 1);
        }
        add(buckets.running, 1);
        add(buckets.wall, 1);
    }
}
