//! Counters of one path on one thread.
//!
//! A poll is written once, at its end, with as few words as its kind allows; the reader adds up
//! what each kind stands for. A poll of a call whose callers ran no code of their own in it is
//! written at the innermost call alone, and the reader shares it out to all of them: a *span*.

use core::sync::atomic::AtomicU32 as OwnU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use alloc::boxed::Box;
use once_cell::race::OnceBox;

use crate::account::aggregate::{LongestPoll, LongestWait};
use crate::account::histogram::{Buckets, Histogram, add, raise};
use crate::account::ledger::Charge;
use crate::account::sync::{AtomicU32, AtomicU64, fence};

/// A word of a path's counters. Times are in ticks; a moment is a sum of ends minus beginnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    // What one event writes lies together: a row is as dear as the cache lines that are touched.
    /// Longest exclusive time of a poll.
    LongestRunning,
    /// Longest poll of this level alone, in the tick of `Ticks`.
    Longest,
    /// A tick of the reader, and in the upper half the last one before it that had a poll.
    Ticks,
    /// Nested part of all polls that are no spans.
    Nested,
    /// Calls that ended in their first poll, with nothing nested in it.
    OnlyPolls,
    OnlyHold,
    OnlyLongest,
    /// First polls that ended pending, of calls that were not counted before.
    FirstPolls,
    FirstHold,
    FirstEnds,
    /// Calls that ended in a later poll.
    LastPolls,
    LastHold,
    LastEnds,
    CallRunning,

    /// Spans that ended pending at this await point: each is a poll of every level.
    SpanPolls,
    SpanHold,
    /// Moment: ends of waits minus their beginnings, of every level.
    SpanWaited,
    /// Longest wait of the reader's tick, of every level.
    SpanWaitBar,
    /// As `Longest` and `Ticks`, of every level.
    SpanLongest,
    SpanTicks,
    /// Part of `SpanHold` that was nested in polls of the innermost call.
    SpanNested,
    /// Waits of spans that have begun and not ended.
    SpanOpen,
    /// Duration of the waits of spans that have ended.
    SpanWaits,

    /// Inclusive time of calls, without their running time.
    CallNested,
    LongestCallRunning,
    LongestCallInclusive,
    /// Wall time of calls that did not end in their only poll, with nothing nested in it.
    CallWall,
    LongestCallWall,
    SpanForeign,
    /// Longest poll in the tick before, and since the start.
    SpanLastLongest,
    SpanLongestEver,
    LastLongest,
    LongestEver,

    /// Polls that are no spans and none of the above.
    Polls,
    Hold,
    /// Moment: ends of waits minus their beginnings, of this level alone.
    Waited,
    /// Waits of this level alone that have begun, and those that have not ended.
    Waits,
    Open,
    /// Longest wait of the reader's tick, of this level alone.
    WaitBar,
    /// Duration of the waits of this level alone that have ended.
    EndedWaits,
    Foreign,
    /// Polls that had no exclusive time. They are frequent, and recorded in no histogram.
    Idle,

    /// Calls counted at their creation.
    Created,
    CreatedAt,
    /// First polls of calls that were counted at their creation.
    Started,
    StartedAt,
    /// Calls counted at their first poll that ended in it, or unwound.
    Counted,
    CountedAt,
    /// Calls whose creation was not counted, and was not right before their first poll.
    UnknownBirths,
    /// Calls that ended otherwise, by outcome.
    EndedAt,
    Ready,
    Err,
    Cancelled,
    Panicked,
    NeverPolled,
    /// Calls that ended in their first poll, with something nested in it.
    Immediate,

    /// Of the longest poll since the start: its end, its task, and the await point plus one after
    /// which it began.
    LongestEnd,
    LongestTask,
    LongestAfter,
    SpanLongestEnd,
    SpanLongestTask,
    SpanLongestAfter,
    /// The same of the longest poll in the tick of `Ticks`.
    RecentEnd,
    RecentTask,
    RecentAfter,
    SpanRecentEnd,
    SpanRecentTask,
    SpanRecentAfter,
    /// Longest wait since the start: its length, end and task.
    LongestWait,
    LongestWaitEnd,
    LongestWaitTask,
    SpanLongestWait,
    SpanLongestWaitEnd,
    SpanLongestWaitTask,
    /// End and task of the wait that raised the bar last.
    RecentWaitEnd,
    RecentWaitTask,
    SpanRecentWaitEnd,
    SpanRecentWaitTask,
}

/// Number of words.
pub(crate) const WORDS: usize = Word::SpanRecentWaitTask as usize + 1;

/// A histogram of one path. A value that belongs to several populations is recorded once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shared {
    /// Polls of every level of a span, and the exclusive time of the innermost.
    Span,
    /// The only poll of a call, with nothing nested: all populations but ready latency.
    Single,
    /// Polls with nothing nested.
    Leaf,
    /// Polls with something nested.
    Nested,
    /// Exclusive time of polls with something nested.
    Running,
    /// Running and inclusive time of calls in which nothing was nested.
    Call,
    CallRunning,
    CallInclusive,
    CallWall,
    /// Inclusive and wall time of calls that ended in their first poll.
    CallWhole,
    /// Polls of every level of a span in which something was nested.
    SpanNested,
    /// Ended waits of every level of a span.
    SpanWait,
    /// Ended waits of this level alone.
    Wait,
}

pub(crate) const HISTOGRAMS: usize = Shared::Wait as usize + 1;

/// Ticks of `slow_from`: about a microsecond, so that it has room beside `kept_at`.
const SLOW_SHIFT: u32 = 10;

/// Counters of one path on one thread. Written by that thread alone, but for the bars of waits.
#[repr(C, align(64))]
pub(crate) struct PathCounters {
    histograms: [OnceBox<Histogram>; HISTOGRAMS],
    /// Number of the last capture at which the words were kept as they were.
    kept_at: AtomicU32,
    /// Age of a call from which on it may be slow, in 1024 ticks; 0 if it is not known.
    slow_from: OwnU32,
    words: [AtomicU64; WORDS],
    kept: OnceBox<Kept>,
}

/// The words as they were at a capture.
struct Kept([AtomicU64; WORDS]);

impl Default for Kept {
    fn default() -> Self {
        Self(core::array::from_fn(|_| AtomicU64::new(0)))
    }
}

/// The words that keep the longest polls.
pub(crate) struct LongestWords {
    /// The longest one in the reader's tick, that tick, and the longest one in the tick before.
    longest: Word,
    ticks: Word,
    last: Word,
    /// Of the longest one in that tick: its end and task, and after which await it began.
    recent: [Word; 3],
    /// The longest one since the start, and the same of it.
    ever: Word,
    which: [Word; 3],
}

/// The words of the longest wait of one level, and of that of spans: length, end and task. In the
/// reader's tick, then since the start.
const WAITS: [[[Word; 3]; 2]; 2] = [
    [
        [Word::WaitBar, Word::RecentWaitEnd, Word::RecentWaitTask],
        [
            Word::LongestWait,
            Word::LongestWaitEnd,
            Word::LongestWaitTask,
        ],
    ],
    [
        [
            Word::SpanWaitBar,
            Word::SpanRecentWaitEnd,
            Word::SpanRecentWaitTask,
        ],
        [
            Word::SpanLongestWait,
            Word::SpanLongestWaitEnd,
            Word::SpanLongestWaitTask,
        ],
    ],
];

/// The words of the longest polls that are spans.
pub(crate) const SPANS: LongestWords = LongestWords {
    longest: Word::SpanLongest,
    ticks: Word::SpanTicks,
    last: Word::SpanLastLongest,
    recent: [
        Word::SpanRecentEnd,
        Word::SpanRecentTask,
        Word::SpanRecentAfter,
    ],
    ever: Word::SpanLongestEver,
    which: [
        Word::SpanLongestEnd,
        Word::SpanLongestTask,
        Word::SpanLongestAfter,
    ],
};
/// The words of the longest polls of one level.
pub(crate) const ALONE: LongestWords = LongestWords {
    longest: Word::Longest,
    ticks: Word::Ticks,
    last: Word::LastLongest,
    recent: [Word::RecentEnd, Word::RecentTask, Word::RecentAfter],
    ever: Word::LongestEver,
    which: [Word::LongestEnd, Word::LongestTask, Word::LongestAfter],
};

impl Default for PathCounters {
    fn default() -> Self {
        Self {
            kept_at: AtomicU32::new(0),
            slow_from: OwnU32::new(0),
            words: core::array::from_fn(|_| AtomicU64::new(0)),
            histograms: core::array::from_fn(|_| OnceBox::new()),
            kept: OnceBox::new(),
        }
    }
}

impl PathCounters {
    #[inline(always)]
    pub(crate) fn add(&self, word: Word, value: u64) {
        add(&self.words[word as usize], value);
    }

    #[inline(always)]
    pub(crate) fn subtract(&self, word: Word, value: u64) {
        add(&self.words[word as usize], value.wrapping_neg());
    }

    #[inline(always)]
    pub(crate) fn raise(&self, word: Word, value: u64) {
        raise(&self.words[word as usize], value);
    }

    #[inline(always)]
    pub(crate) fn get(&self, word: Word) -> u64 {
        self.words[word as usize].load(Relaxed)
    }

    #[inline(always)]
    pub(super) fn word(&self, word: Word) -> &AtomicU64 {
        &self.words[word as usize]
    }

    #[inline(always)]
    pub(super) fn histogram(&self, shared: Shared) -> Option<&Histogram> {
        self.histograms[shared as usize].get()
    }

    #[inline(always)]
    pub(crate) fn record(&self, shared: Shared, value: u64) {
        let slot = &self.histograms[shared as usize];
        match slot.get() {
            Some(histogram) => histogram.record(value),
            None => record_first(slot, value),
        }
    }

    /// Whether a call of this age may be one of the slowest: if not, it is not.
    #[inline(always)]
    pub(crate) fn may_be_slow(&self, age: u64) -> bool {
        age >> SLOW_SHIFT >= u64::from(self.slow_from.load(Relaxed))
    }

    /// Sets from which age on a call may be slow. The thread and the reader may do so.
    pub(crate) fn set_slow_from(&self, age: u64) {
        let units = u32::try_from(age >> SLOW_SHIFT).unwrap_or(u32::MAX);
        self.slow_from.store(units, Relaxed);
    }

    /// Whether a poll is the longest one of the tick, and has to be kept.
    #[inline(always)]
    pub(crate) fn is_longest(&self, of: &LongestWords, tick: u32, hold: u64) -> bool {
        self.get(of.ticks) as u32 != tick || hold > self.get(of.longest)
    }

    /// Keeps the longest poll of the tick, which may be the longest one since the start.
    pub(crate) fn keep_longest(&self, of: &LongestWords, tick: u32, poll: &LongestPoll) {
        let before = self.get(of.ticks);
        if before as u32 != tick {
            self.set(of.last, self.get(of.longest));
            self.set(of.ticks, before << 32 | u64::from(tick));
        }
        self.set(of.longest, poll.hold);
        self.keep_which(&of.recent, poll);
        if poll.hold > self.get(of.ever) {
            self.set(of.ever, poll.hold);
            self.keep_which(&of.which, poll);
        }
    }

    fn keep_which(&self, [end, task, after]: &[Word; 3], poll: &LongestPoll) {
        self.set(*end, poll.end);
        self.set(*task, poll.task);
        self.set(*after, u64::from(poll.after));
    }

    #[inline(always)]
    fn set(&self, word: Word, value: u64) {
        self.words[word as usize].store(value, Relaxed);
    }

    /// Whether the words are kept as they are for this capture, or were changed after it.
    #[inline(always)]
    pub(crate) fn is_kept_for(&self, capture: u32) -> bool {
        self.kept_at.load(Relaxed) == capture
    }

    /// Keeps the words as they are for the capture with this number, before the first change after
    /// it.
    #[inline(always)]
    pub(crate) fn keep_for(&self, capture: u32) {
        if !self.is_kept_for(capture) {
            self.keep(capture);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep(&self, capture: u32) {
        let kept = self.kept.get_or_init(Box::default);
        for (kept, word) in kept.0.iter().zip(&self.words) {
            kept.store(word.load(Relaxed), Relaxed);
        }
        // Release: a reader that sees the number also sees what was kept.
        self.kept_at.store(capture, Release);
        // A reader that sees a later change also sees the number.
        fence(Release);
    }

    /// Makes the storage of what is kept.
    #[cfg(all(test, loom))]
    pub(crate) fn make_kept(&self) {
        self.kept.get_or_init(Box::default);
    }

    /// The words at the capture with this number, which the writer has noticed.
    pub(crate) fn read_at(&self, capture: u32) -> PathReading {
        let now = self.read();
        fence(Acquire);
        if self.kept_at.load(Acquire) != capture {
            return now;
        }
        match self.kept.get() {
            Some(kept) => PathReading(core::array::from_fn(|at| kept.0[at].load(Relaxed))),
            None => now,
        }
    }

    /// Records a poll of this level alone in the histograms.
    #[inline(always)]
    pub(crate) fn record_poll(&self, charge: &Charge, leaf: Shared, nested: Shared) {
        let Charge { hold, running, .. } = *charge;
        if running == hold {
            self.raise(Word::LongestRunning, hold);
            self.record(leaf, hold);
        } else {
            self.record_nested(hold, running, nested);
        }
    }

    #[inline(always)]
    fn record_nested(&self, hold: u64, running: u64, nested: Shared) {
        self.record(nested, hold);
        if running == 0 {
            self.add(Word::Idle, 1);
        } else {
            self.raise(Word::LongestRunning, running);
            self.record(Shared::Running, running);
        }
    }

    /// Charges an ended call that was polled.
    #[inline(always)]
    pub(crate) fn charge_call(&self, running: u64, inclusive: u64, wall: u64) {
        self.add_call(running, inclusive, wall);
        if running == inclusive {
            self.record(Shared::Call, running);
        } else {
            self.add(Word::CallNested, inclusive.wrapping_sub(running));
            self.record(Shared::CallRunning, running);
            self.record(Shared::CallInclusive, inclusive);
        }
        self.record(Shared::CallWall, wall);
    }

    /// Same as [`PathCounters::charge_call`], of a call that ended in its first poll.
    #[inline(always)]
    pub(crate) fn charge_first(&self, running: u64, inclusive: u64, wall: u64) {
        if wall != inclusive || running == inclusive {
            return self.charge_call(running, inclusive, wall);
        }
        self.add_call(running, inclusive, wall);
        self.add(Word::CallNested, inclusive.wrapping_sub(running));
        self.record(Shared::CallRunning, running);
        self.record(Shared::CallWhole, wall);
    }

    #[inline(always)]
    pub(super) fn add_call(&self, running: u64, inclusive: u64, wall: u64) {
        self.add(Word::CallRunning, running);
        self.add(Word::CallWall, wall);
        self.raise(Word::LongestCallRunning, running);
        self.raise(Word::LongestCallInclusive, inclusive);
        self.raise(Word::LongestCallWall, wall);
    }

    /// Records an ended wait of this level alone. Returns whether it is the longest one of the
    /// tick.
    #[inline(always)]
    #[must_use]
    pub(crate) fn charge_wait(&self, waited: u64) -> bool {
        self.add(Word::EndedWaits, waited);
        self.record(Shared::Wait, waited);
        waited > self.get(Word::WaitBar)
    }

    /// Records an ended wait of every level of a span. Returns whether it is the longest one of the
    /// tick.
    #[inline(always)]
    #[must_use]
    pub(crate) fn charge_span_wait(&self, waited: u64) -> bool {
        self.add(Word::SpanWaits, waited);
        self.record(Shared::SpanWait, waited);
        waited > self.get(Word::SpanWaitBar)
    }

    /// Keeps the longest wait of the tick, which may be the longest one since the start.
    pub(crate) fn keep_longest_wait(&self, is_span: bool, wait: &LongestWait) {
        let [recent, ever] = &WAITS[usize::from(is_span)];
        for [waited, end, task] in [recent, ever] {
            if wait.waited > self.get(*waited) {
                self.set(*waited, wait.waited);
                self.set(*end, wait.end);
                self.set(*task, wait.task);
            }
        }
    }

    /// Lowers the bars of waits: any wait is the longest one of the tick that begins. For the
    /// reader, after it has read these counters.
    ///
    /// The thread may be between its look at a bar and its store. If its store comes first, a wait
    /// that ended after the reading is forgotten as soon as a shorter one follows in the new tick.
    /// If it comes last, that wait is the first one of the new tick. Nothing else depends on a bar:
    /// the longest wait since the start has words of its own.
    pub(crate) fn lower_bars(&self) {
        for bar in [Word::WaitBar, Word::SpanWaitBar] {
            if self.get(bar) != 0 {
                self.set(bar, 0);
            }
        }
    }

    /// All words. The caller reads them under the seqlock.
    pub(crate) fn read(&self) -> PathReading {
        PathReading(core::array::from_fn(|at| self.words[at].load(Relaxed)))
    }

    /// Reads the counts of one histogram, in place of what was there. Returns whether there are
    /// any. These are plain counts: a read between two stores of one event is off by that event and
    /// no more.
    pub(crate) fn counts(&self, shared: Shared, into: &mut Buckets) -> bool {
        match self.histograms[shared as usize].get() {
            Some(histogram) => histogram.read(into),
            None => into.clear(),
        }
        !into.is_empty()
    }
}

#[cold]
#[inline(never)]
fn record_first(slot: &OnceBox<Histogram>, value: u64) {
    slot.get_or_init(Box::default).record(value);
}

/// The words of a path at one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathReading([u64; WORDS]);

impl PathReading {
    pub(crate) const fn get(&self, word: Word) -> u64 {
        self.0[word as usize]
    }

    /// Sum of several words; wraps, since moments do.
    pub(crate) fn sum(&self, words: &[Word]) -> u64 {
        words
            .iter()
            .fold(0, |sum, &word| sum.wrapping_add(self.get(word)))
    }

    /// Longest poll in the reader's tick or the one before.
    pub(crate) fn recent(&self, of: &LongestWords, tick: u32) -> u64 {
        let ticks = self.get(of.ticks);
        let at = [(ticks as u32, of.longest), ((ticks >> 32) as u32, of.last)];
        let recent = at.into_iter().filter(|(at, _)| tick.wrapping_sub(*at) <= 1);
        recent.map(|(_, word)| self.get(word)).max().unwrap_or(0)
    }

    /// Which poll the longest one since the start was, on this thread.
    pub(crate) fn longest(&self, of: &LongestWords, thread: u32) -> LongestPoll {
        self.which(of.ever, &of.which, thread)
    }

    /// Which poll the longest one in the reader's tick was, or if there was none, the one before;
    /// of length 0 if there was none in either.
    pub(crate) fn recent_poll(&self, of: &LongestWords, tick: u32, thread: u32) -> LongestPoll {
        match tick.wrapping_sub(self.get(of.ticks) as u32) {
            0 | 1 => self.which(of.longest, &of.recent, thread),
            _ => LongestPoll::default(),
        }
    }

    fn which(&self, hold: Word, which: &[Word; 3], thread: u32) -> LongestPoll {
        let [end, task, after] = which.map(|word| self.get(word));
        LongestPoll {
            hold: self.get(hold),
            end,
            task,
            after: after as u32,
            thread,
        }
    }

    /// The longest wait on this thread: in the reader's tick, and since the start.
    pub(crate) fn longest_waits(&self, is_span: bool) -> [LongestWait; 2] {
        WAITS[usize::from(is_span)].map(|words| {
            let [waited, end, task] = words.map(|word| self.get(word));
            LongestWait { waited, end, task }
        })
    }

    /// Whether nothing was recorded on this path and thread.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }
}
