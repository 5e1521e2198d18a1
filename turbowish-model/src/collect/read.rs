//! Reader of a ledger whose thread may be writing. Open polls count as if they ended now.

mod share;

use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;

use self::share::Share;
use crate::account::aggregate::{Aggregate, LongestPoll};
use crate::account::call::SITE;
use crate::account::counters::{ALONE, PathReading, SPANS, Sum, Word};
use crate::account::histogram::Buckets;
use crate::account::ledger::{COUNTED_BEFORE, Captured, Charge, FIRST, Frame, Ledger, OVER, ROOT};
use crate::account::paths::{PathId, PathKind, Paths};

/// A poll in progress, as a reader sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenPollReading {
    /// The key passed at its start.
    pub key: u64,
    /// Id of the polled proc.
    pub proc: u32,
    /// Await point last reached plus one; 0 if unknown.
    pub site: u16,
    /// End of the previous poll, if this poll ended the wait at `site`.
    waited_since: Option<u64>,
    /// The poll is the root of a task.
    pub root: bool,
    /// Start of the poll, in ticks.
    pub start: u64,
    /// Another call of the same proc is further out in the task.
    again: bool,
    creator: Option<u32>,
    /// The call is counted with this poll, its first.
    counts: bool,
    nested: u64,
    foreign: u64,
}

impl OpenPollReading {
    fn read(frame: &Frame, paths: &Paths) -> Self {
        let place = frame.place.load(Relaxed);
        let path = frame.path.load(Relaxed);
        Self {
            key: frame.key.load(Relaxed),
            proc: paths.key(path).proc(),
            site: (place & SITE) as u16,
            waited_since: (frame.unit.load(Relaxed) != 0).then(|| frame.suspended.load(Relaxed)),
            root: place & ROOT != 0,
            start: frame.start.load(Relaxed),
            again: paths.is_again(path),
            creator: paths.creator(path),
            counts: place & (FIRST | COUNTED_BEFORE) == FIRST,
            nested: frame.nested.load(Relaxed),
            foreign: frame.foreign.load(Relaxed),
        }
    }

    /// The polls of the callers, which have no frames, of the call with this path: outermost first.
    fn callers(&self, path: PathId, task: u64, paths: &Paths) -> Vec<Self> {
        let mut callers = Vec::new();
        share::levels(paths, path, |level| {
            let root = paths.key(level.path).is(PathKind::Root);
            callers.push(Self {
                key: if root { task } else { 0 },
                proc: level.proc,
                site: level.site as u16,
                waited_since: self.waited_since,
                root,
                start: self.start,
                again: paths.is_again(level.path),
                creator: paths.creator(level.path),
                ..Self::default()
            });
        });
        callers.reverse();
        // The last one is the call itself.
        callers.pop();
        callers
    }

    /// Computes the charge as if this poll and the one nested in it ended at `now`; `nested` and
    /// `foreign` are the nested poll's contributions.
    #[must_use]
    pub fn charge(&self, now: u64, nested: u64, foreign: u64) -> Charge {
        let hold = now.saturating_sub(self.start);
        Charge {
            hold,
            running: hold.saturating_sub(self.nested + nested),
            inclusive: hold.saturating_sub(self.foreign + foreign),
        }
    }
}

/// One thread at one instant. Its counters have been added to a raw aggregate; open polls are here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadReading {
    /// Polls in progress, outermost first.
    pub open: Vec<OpenPollReading>,
    /// Time in polls, in ticks; includes open polls after [`ThreadReading::charge`].
    pub busy: u64,
    /// Time of the last event, in ticks: nothing in the reading is later.
    pub latest: u64,
}

impl ThreadReading {
    /// Charges the open polls up to `now`, without changing the ledger. With `now` before `latest`,
    /// parts may have to be clamped to zero.
    pub fn charge(&mut self, now: u64, into: &mut Aggregate) {
        self.busy = self.busy.wrapping_add(charge_open(&self.open, now, into));
    }
}

/// The longest poll that ended on one path and thread in the reader's tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongPollReading {
    /// Which poll it was; its `after` is an await point of the last proc of `stack`.
    pub poll: LongestPoll,
    /// Ids of the procs on the path, from the root of the task to the call.
    pub stack: Vec<u32>,
}

impl LongPollReading {
    fn of(paths: &Paths, row: PathId, poll: LongestPoll) -> Self {
        let mut path = share::call_of(paths, row);
        let mut stack = Vec::new();
        while path != 0 && stack.len() < STACK {
            stack.push(paths.key(path).proc());
            path = paths.caller(path);
        }
        stack.reverse();
        Self { poll, stack }
    }
}

/// Maximum number of procs of a path that are read, from the innermost on.
const STACK: usize = 64;

/// The counters of one path, as they were at one instant.
type Row = (PathId, PathReading);

/// Memory of readings, to be used again.
#[derive(Debug, Default)]
pub struct ReadRoom {
    rows: Vec<Row>,
    /// Counts of two histograms.
    counts: [Buckets; 2],
}

/// Attempts of a glance before the thread is asked to help.
const GLANCES: u32 = 64;

impl Ledger {
    /// [`Ledger::read`] followed by [`ThreadReading::charge`], for reading a single thread or
    /// threads that are known to be idle.
    pub fn collect(
        &self,
        now: u64,
        into: &mut Aggregate,
        relax: &mut dyn FnMut(),
    ) -> ThreadReading {
        let mut reading = self.read((into, &mut ReadRoom::default()), relax);
        reading.charge(now, into);
        reading
    }

    /// Adds this thread's counters to a raw aggregate and returns its open polls. The caller
    /// charges them for all threads up to the same instant, after the last thread has been read.
    ///
    /// May be called at any time, but by one reader at a time. The reading is the thread at one
    /// instant, as far as times and counts go; histograms may be ahead by what has happened since.
    /// `relax` lets other threads run.
    pub fn read(
        &self,
        (into, ReadRoom { rows, counts }): (&mut Aggregate, &mut ReadRoom),
        relax: &mut dyn FnMut(),
    ) -> ThreadReading {
        let reading = match self.capture(relax, || self.read_now(rows)) {
            Captured::Now(reading) => reading,
            Captured::Kept(number) => self.read_kept(number, rows),
        };
        let mut share = Share::new(&self.paths, (self.tick(), self.thread()), (into, counts));
        for (path, words) in &*rows {
            share.counters(*path, words);
        }
        for (path, row) in self.rows.iter() {
            share.histograms(path, row);
        }
        for (proc, row) in self.procs.iter() {
            row.collect(into.proc(proc));
            if let Some(slow) = row.known_slow() {
                slow.read(&self.sequence, &mut into.proc(proc).slow, relax);
            }
        }
        self.read_delays(&mut into.delays, relax);
        for (kind, count) in into.anomalies.iter_mut().enumerate() {
            *count += self.anomalies(kind);
        }
        reading
    }

    /// The open polls of this thread, and its last event, without its counters: a reading that
    /// takes little however much the thread has done. As for [`Ledger::read`], one reader at a
    /// time may call this.
    pub fn glance(&self, relax: &mut dyn FnMut()) -> ThreadReading {
        let attempt = || self.read_thread(|| ());
        // A capture makes the thread keep all that it is about to change.
        if let Some(reading) = self.sequence.try_read(GLANCES, attempt) {
            return reading;
        }
        match self.capture(relax, attempt) {
            Captured::Now(reading) => reading,
            Captured::Kept(_) => self.read_kept_thread(),
        }
    }

    /// Passes a proc id and the number of its finished polls on one path to `each`, for each path;
    /// each number is read by itself.
    pub fn polls(&self, each: &mut dyn FnMut(u32, u64)) {
        for (path, row) in self.rows.iter() {
            let spans = row.get(Word::SpanPolls);
            if spans != 0 {
                share::levels(&self.paths, path, |level| each(level.proc, spans));
            }
            let alone = share::POLLS.iter().map(|&word| row.get(word)).sum();
            each(self.paths.key(path).proc(), alone);
        }
    }

    /// Passes a proc id, a bucket above `bucket`, and the number of finished polls whose exclusive
    /// time is in that bucket to `each`. The same may come several times. Each number is read by
    /// itself.
    pub fn polls_above(&self, bucket: usize, each: &mut dyn FnMut(u32, u16, u64)) {
        let mut counts = Buckets::default();
        for (path, row) in self.rows.iter() {
            let proc = self.paths.key(path).proc();
            for shared in share::EXCLUSIVE {
                row.counts(shared, &mut counts);
                let long = counts.iter().filter(|&(own, _)| usize::from(own) > bucket);
                long.for_each(|(own, polls)| each(proc, own, polls));
            }
        }
    }

    /// Passes the longest poll of each path in the reader's tick, or the one before, to `each`, if
    /// it was of a task and took `least` ticks or longer. Polls of the calls of one root poll come
    /// one by one.
    pub fn long_polls(
        &self,
        least: u64,
        relax: &mut dyn FnMut(),
        each: &mut dyn FnMut(LongPollReading),
    ) {
        for (path, row) in self.rows.iter() {
            let longest = row.get(Word::Longest).max(row.get(Word::SpanLongest));
            if longest < least {
                continue;
            }
            let words = self.sequence.read(relax, || row.read());
            for of in [&ALONE, &SPANS] {
                let poll = words.recent_poll(of, self.tick(), self.thread());
                if poll.hold >= least && poll.task != 0 {
                    each(LongPollReading::of(&self.paths, path, poll));
                }
            }
        }
    }

    /// Returns the open polls of this thread.
    #[must_use]
    pub fn open_polls(&self) -> Vec<OpenPollReading> {
        self.sequence.read(&mut || (), || self.read_frames())
    }

    fn read_frames(&self) -> Vec<OpenPollReading> {
        // First the depth: a poll that begins after this is not seen.
        let depth = self.published_depth();
        let frames = (0..depth).map_while(|depth| self.frames.get(depth as usize));
        self.open_by(frames)
    }

    /// The open polls of these frames, and of the calls that have none.
    fn open_by<'a>(&self, frames: impl Iterator<Item = &'a Frame>) -> Vec<OpenPollReading> {
        let mut open = Vec::new();
        for frame in frames {
            let mut poll = OpenPollReading::read(frame, &self.paths);
            if frame.place.load(Relaxed) & (ROOT | OVER) == 0 {
                let task = core::mem::take(&mut poll.key);
                open.extend(poll.callers(frame.path.load(Relaxed), task, &self.paths));
            }
            open.push(poll);
        }
        open
    }

    fn read_now(&self, rows: &mut Vec<Row>) -> ThreadReading {
        rows.clear();
        self.read_thread(|| {
            let all = self.rows.iter().map(|(path, row)| (path, row.read()));
            rows.extend(all.filter(|(_, words)| !words.is_empty()));
        })
    }

    /// The thread as it is. What its polls that ended have left is read by `rows`: after the open
    /// ones, and before the last event.
    fn read_thread(&self, rows: impl FnOnce()) -> ThreadReading {
        let open = self.read_frames();
        rows();
        ThreadReading {
            open,
            busy: self.busy(),
            latest: self.latest(),
        }
    }

    fn read_kept(&self, number: u32, rows: &mut Vec<Row>) -> ThreadReading {
        rows.clear();
        let all = self.rows.iter();
        let all = all.map(|(path, row)| (path, row.read_at(number)));
        rows.extend(all.filter(|(_, words)| !words.is_empty()));
        self.read_kept_thread()
    }

    fn read_kept_thread(&self) -> ThreadReading {
        let (depth, busy, latest) = self.kept();
        let frames = (0..depth).map_while(|depth| self.kept_frame(depth));
        let open = self.open_by(frames);
        ThreadReading { open, busy, latest }
    }
}

/// Charges open polls as if they ended at `now`, innermost first. Returns the time in the
/// outermost.
fn charge_open(open: &[OpenPollReading], now: u64, into: &mut Aggregate) -> u64 {
    let (mut nested, mut foreign) = (0, 0);
    for poll in open.iter().rev() {
        let charge = poll.charge(now, nested, foreign);
        nested = charge.hold;
        foreign = if poll.root {
            charge.hold
        } else {
            charge.hold - charge.inclusive
        };
        let proc = into.proc(poll.proc);
        proc.add(Sum::Polls, 1);
        proc.add(Sum::Hold, charge.hold);
        proc.add(Sum::Running, charge.running);
        proc.add(Sum::OpenHold, charge.hold);
        proc.add(Sum::OpenRunning, charge.running);
        proc.add(Sum::Foreign, charge.hold - charge.inclusive);
        if !poll.again {
            proc.add(Sum::Inclusive, charge.inclusive);
        }
        if poll.counts {
            proc.add(Sum::Calls, 1);
            proc.add(Sum::Started, 1);
            proc.add(Sum::Wall, poll.start.wrapping_neg());
        }
        proc.open_longest = proc.open_longest.max(charge.hold);
        if let Some(since) = poll.waited_since {
            proc.site(poll.site.into()).resume(since, poll.start);
        }
        if let Some(creator) = poll.creator {
            let edge = proc.edges.entry(creator).or_default();
            edge.offspring = edge.offspring.wrapping_add(charge.inclusive);
            edge.created += u64::from(poll.counts);
        }
    }
    nested
}
