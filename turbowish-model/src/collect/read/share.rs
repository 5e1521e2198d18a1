//! What the counters of a path stand for: the reader shares them out to procs, await points and
//! edges.

use crate::account::aggregate::{Aggregate, ProcStats};
use crate::account::counters::{
    ALONE, LongestWords, OTHERS, PathCounters, PathReading, Population, SPANS, Shared, Sum, Word,
};
use crate::account::histogram::Buckets;
use crate::account::paths::{PathId, PathKind, Paths};

/// Words that count polls of one level.
pub(super) const POLLS: [Word; 4] = [
    Word::Polls,
    Word::OnlyPolls,
    Word::LastPolls,
    Word::FirstPolls,
];
/// Words with the duration of these polls.
const HOLDS: [Word; 4] = [Word::Hold, Word::OnlyHold, Word::LastHold, Word::FirstHold];

/// Histograms of the exclusive time of polls. In a span only the innermost level has some, and the
/// row is that level's.
pub(super) const EXCLUSIVE: [Shared; 4] =
    [Shared::Single, Shared::Leaf, Shared::Running, Shared::Span];

/// One level of a span.
#[derive(Clone, Copy)]
pub(super) struct Level {
    pub(super) path: PathId,
    pub(super) proc: u32,
    /// Await point plus one at which the call of this level stands; 0 if unknown.
    pub(super) site: u32,
    /// The level that ran.
    is_innermost: bool,
}

/// The call that a row belongs to, and the await point at which it waits.
fn leaf(paths: &Paths, row: PathId) -> Level {
    let key = paths.key(row);
    let (path, site) = match key.is(PathKind::Wait) {
        true => (key.parent(), key.site()),
        false => (row, 0),
    };
    Level {
        path,
        proc: key.proc(),
        site,
        is_innermost: true,
    }
}

/// The path of the call that a row belongs to.
pub(super) fn call_of(paths: &Paths, row: PathId) -> PathId {
    leaf(paths, row).path
}

/// Passes the levels of the spans of a row to `each`, innermost first.
pub(super) fn levels(paths: &Paths, row: PathId, mut each: impl FnMut(Level)) {
    let mut level = leaf(paths, row);
    loop {
        each(level);
        let key = paths.key(level.path);
        if !key.is(PathKind::Direct) {
            return;
        }
        let path = paths.caller(level.path);
        level = Level {
            path,
            proc: paths.key(path).proc(),
            site: key.site(),
            is_innermost: false,
        };
    }
}

/// Shares out the counters of one thread.
pub(super) struct Share<'a> {
    paths: &'a Paths,
    tick: u32,
    thread: u32,
    into: &'a mut Aggregate,
    /// Counts that were read last, of two histograms.
    counts: &'a mut [Buckets; 2],
}

/// Polls of one level.
struct Polls {
    count: u64,
    hold: u64,
    foreign: u64,
}

impl<'a> Share<'a> {
    pub(super) fn new(
        paths: &'a Paths,
        (tick, thread): (u32, u32),
        (into, counts): (&'a mut Aggregate, &'a mut [Buckets; 2]),
    ) -> Self {
        Self {
            paths,
            tick,
            thread,
            into,
            counts,
        }
    }

    /// Adds the words of a row.
    pub(super) fn counters(&mut self, row: PathId, words: &PathReading) {
        let level = leaf(self.paths, row);
        self.alone(level, words);
        self.calls(level, words);
        let spans = [Word::SpanPolls, Word::SpanWaited, Word::SpanOpen];
        if spans.iter().any(|&word| words.get(word) != 0) {
            levels(self.paths, row, |level| self.span(level, words));
        }
    }

    fn longest(&mut self, level: Level, words: &PathReading, of: &LongestWords) {
        let mut longest = words.longest(of, self.thread);
        let mut recent = words.recent_poll(of, self.tick, self.thread);
        if !level.is_innermost {
            // A caller has stood still in the poll.
            (longest.after, recent.after) = (level.site, level.site);
        }
        let stats = self.into.proc(level.proc);
        stats.recent_longest = stats.recent_longest.max(words.recent(of, self.tick));
        raise(stats, Population::PollHold, longest.hold);
        stats.longest_poll.raise(&longest);
        stats.recent_poll.raise(&recent);
    }

    /// One level of the spans of a row.
    fn span(&mut self, level: Level, words: &PathReading) {
        let (spans, open) = (words.get(Word::SpanPolls), words.get(Word::SpanOpen));
        let (hold, waited) = (words.get(Word::SpanHold), words.get(Word::SpanWaited));
        self.longest(level, words, &SPANS);
        let polls = Polls {
            count: spans,
            hold,
            foreign: words.get(Word::SpanForeign),
        };
        self.polls(level, &polls);
        let stats = self.into.proc(level.proc);
        if level.is_innermost {
            let nested = words.get(Word::SpanNested);
            stats.add(Sum::Running, hold.wrapping_sub(nested));
        }
        let site = stats.site(level.site as usize);
        site.waits = site.waits.wrapping_add(spans);
        site.left = site.left.wrapping_add(spans.wrapping_sub(open));
        site.waited = site.waited.wrapping_add(waited);
        site.add_longest(&words.longest_waits(true));
        site.ended = site.ended.wrapping_add(words.get(Word::SpanWaits));
    }

    /// The polls of a row that were of its own level alone.
    fn alone(&mut self, level: Level, words: &PathReading) {
        let hold = words.sum(&HOLDS);
        let polls = Polls {
            count: words.sum(&POLLS),
            hold,
            foreign: words.get(Word::Foreign),
        };
        self.polls(level, &polls);
        self.longest(level, words, &ALONE);
        let stats = self.into.proc(level.proc);
        stats.add(Sum::Running, hold.wrapping_sub(words.get(Word::Nested)));
        let only = words.get(Word::OnlyLongest);
        let running = words.get(Word::LongestRunning).max(only);
        raise(stats, Population::PollRunning, running);
        let longest = words.get(Word::LongestCallRunning).max(only);
        raise(stats, Population::CallRunning, longest);
        let longest = words.get(Word::LongestCallInclusive).max(only);
        raise(stats, Population::CallInclusive, longest);
        let longest = words.get(Word::LongestCallWall).max(only);
        raise(stats, Population::CallWall, longest);
    }

    /// Adds polls to a proc, and to the edges of those that poll and create its calls.
    fn polls(&mut self, level: Level, polls: &Polls) {
        let inclusive = polls.hold.wrapping_sub(polls.foreign);
        let is_again = self.paths.is_again(level.path);
        let (caller, creator) = (self.polled_by(level.path), self.paths.creator(level.path));
        let stats = self.into.proc(level.proc);
        stats.add(Sum::Polls, polls.count);
        stats.add(Sum::Hold, polls.hold);
        stats.add(Sum::Foreign, polls.foreign);
        if !is_again {
            stats.add(Sum::Inclusive, inclusive);
        }
        if polls.count == 0 && polls.hold == 0 {
            return;
        }
        if let Some(caller) = caller {
            let edge = stats.edges.entry(caller).or_default();
            edge.polls = edge.polls.wrapping_add(polls.count);
            edge.hold = edge.hold.wrapping_add(polls.hold);
        }
        if let Some(creator) = creator {
            let edge = stats.edges.entry(creator).or_default();
            edge.offspring = edge.offspring.wrapping_add(inclusive);
        }
    }

    /// The proc that polls the calls of a path.
    fn polled_by(&self, path: PathId) -> Option<u32> {
        let key = self.paths.key(path);
        if key.is(PathKind::Lost) || key.is(PathKind::LostAgain) {
            return Some(OTHERS);
        }
        let caller = self.paths.caller(path);
        (caller != 0).then(|| self.paths.key(caller).proc())
    }

    /// The calls of a row that were created, begun or ended.
    fn calls(&mut self, level: Level, words: &PathReading) {
        let creator = self.paths.creator(level.path);
        let stats = self.into.proc(level.proc);
        let get = |word: Word| words.get(word);
        let counted = words.sum(&[Word::Counted, Word::FirstPolls, Word::OnlyPolls]);
        stats.add(Sum::Calls, get(Word::Created).wrapping_add(counted));
        stats.add(Sum::Started, get(Word::Started).wrapping_add(counted));
        let first = get(Word::FirstEnds).wrapping_sub(get(Word::FirstHold));
        let begun = get(Word::CountedAt).wrapping_add(first);
        let ended = [Word::EndedAt, Word::LastEnds, Word::OnlyHold];
        let wall = words.sum(&ended).wrapping_add(get(Word::CreatedAt));
        stats.add(Sum::Wall, wall.wrapping_sub(begun));
        let unstarted = words.sum(&[Word::StartedAt, Word::CreatedAt]);
        stats.add(Sum::Unstarted, unstarted);
        let ready = words.sum(&[Word::Ready, Word::Err, Word::LastPolls, Word::OnlyPolls]);
        stats.add(Sum::Ready, ready);
        stats.add(Sum::Err, get(Word::Err));
        stats.add(Sum::Cancelled, get(Word::Cancelled));
        stats.add(Sum::Panicked, get(Word::Panicked));
        stats.add(Sum::NeverPolled, get(Word::NeverPolled));
        let immediate = words.sum(&[Word::OnlyPolls, Word::Immediate]);
        stats.add(Sum::Immediate, immediate);
        stats.add(Sum::UnknownBirths, get(Word::UnknownBirths));
        let running = words.sum(&[Word::CallRunning, Word::OnlyHold]);
        stats.add(Sum::CallRunning, running);
        let nested = get(Word::CallNested);
        stats.add(Sum::CallInclusive, running.wrapping_add(nested));
        let wall = words.sum(&[Word::CallWall, Word::OnlyHold]);
        stats.add(Sum::CallWall, wall);
        let created = get(Word::Created).wrapping_add(counted);
        if let (Some(creator), 1..) = (creator, created) {
            let edge = stats.edges.entry(creator).or_default();
            edge.created = edge.created.wrapping_add(created);
        }
        self.waits(level, words);
    }

    /// The waits of a row that were of its own level alone.
    fn waits(&mut self, level: Level, words: &PathReading) {
        let waited = words
            .get(Word::Waited)
            .wrapping_sub(words.get(Word::FirstEnds));
        let begun = words
            .get(Word::FirstPolls)
            .wrapping_add(words.get(Word::Waits));
        let open = words
            .get(Word::Open)
            .wrapping_add(words.get(Word::FirstPolls));
        if waited == 0 && begun == 0 && open == 0 {
            return;
        }
        let site = self.into.proc(level.proc).site(level.site as usize);
        site.waits = site.waits.wrapping_add(begun);
        site.left = site.left.wrapping_add(begun.wrapping_sub(open));
        site.waited = site.waited.wrapping_add(waited);
        site.add_longest(&words.longest_waits(false));
        site.ended = site.ended.wrapping_add(words.get(Word::EndedWaits));
    }

    /// Adds the histograms of a row.
    pub(super) fn histograms(&mut self, row: PathId, counters: &PathCounters) {
        use Population::{CallInclusive, CallRunning, CallWall, PollHold, PollRunning};
        let proc = self.paths.key(row).proc();
        let [counts, _] = &mut self.counts;
        let mut add = |shared: Shared, populations: &[Population]| {
            if counters.counts(shared, counts) {
                let stats = self.into.proc(proc);
                for &population in populations {
                    stats.populations[population as usize].merge(counts);
                }
                if shared == Shared::Single {
                    stats.single.merge(counts);
                }
            }
        };
        add(
            Shared::Single,
            &[CallRunning, CallInclusive, CallWall, PollHold, PollRunning],
        );
        add(Shared::Leaf, &[PollHold, PollRunning]);
        add(Shared::Nested, &[PollHold]);
        add(Shared::Running, &[PollRunning]);
        add(Shared::Call, &[CallRunning, CallInclusive]);
        add(Shared::CallRunning, &[CallRunning]);
        add(Shared::CallInclusive, &[CallInclusive]);
        add(Shared::CallWall, &[CallWall]);
        add(Shared::CallWhole, &[CallInclusive, CallWall]);
        let idle = counters.get(Word::Idle);
        if idle > 0 {
            let stats = self.into.proc(proc);
            stats.populations[PollRunning as usize].add(0, idle);
        }
        self.spans(row, counters);
        self.wait_histograms(row, counters);
    }

    /// The histograms of the ended waits of a row: those of one level, and those of spans.
    fn wait_histograms(&mut self, row: PathId, counters: &PathCounters) {
        let (paths, into) = (self.paths, &mut *self.into);
        let [counts, _] = &mut self.counts;
        let mut add = |level: Level, counts: &Buckets| {
            let site = into.proc(level.proc).site(level.site as usize);
            site.wait.merge(counts);
        };
        if counters.counts(Shared::Wait, counts) {
            add(leaf(paths, row), counts);
        }
        if counters.counts(Shared::SpanWait, counts) {
            levels(paths, row, |level| add(level, counts));
        }
    }

    /// The histograms of the spans of a row. No level but the innermost has exclusive time in them.
    fn spans(&mut self, row: PathId, counters: &PathCounters) {
        let [leaf, nested] = &mut self.counts;
        counters.counts(Shared::Span, leaf);
        counters.counts(Shared::SpanNested, nested);
        let polls = leaf.total() + nested.total();
        if polls == 0 {
            return;
        }
        let (paths, into) = (self.paths, &mut *self.into);
        levels(paths, row, |level| {
            let stats = into.proc(level.proc);
            for counts in [&*leaf, nested] {
                stats.populations[Population::PollHold as usize].merge(counts);
            }
            let running = &mut stats.populations[Population::PollRunning as usize];
            if level.is_innermost {
                running.merge(leaf);
            } else {
                running.add(0, polls);
            }
        });
    }
}

fn raise(stats: &mut ProcStats, population: Population, value: u64) {
    let peak = &mut stats.peaks[population as usize];
    *peak = (*peak).max(value);
}
