//! Sums of one proc over all threads, with its await points and its callers.

use alloc::vec::Vec;

use crate::account::counters::{POPULATIONS, Population, SUMS, Sum};
use crate::account::histogram::{Buckets, bucket_of};
use crate::account::slow::SlowSums;
use crate::ordered::Map;

/// Waits at one await point, over all threads. Times are in ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteStats {
    /// Polls that ended pending at this await point.
    pub waits: u64,
    /// Waits that have ended.
    pub left: u64,
    /// Raw: ends minus starts of waits. Closed: time waited, open waits included.
    pub waited: u64,
    /// Longest wait that has ended.
    pub longest: u64,
    /// When that was; behind `longest` while the poll that ended it is in progress.
    pub longest_wait: LongestWait,
    /// Longest wait that ended in the reader's current tick.
    pub recent_wait: LongestWait,
    /// Duration of the waits that have ended.
    pub ended: u64,
    /// Histogram of the waits that have ended.
    pub wait: Buckets,
    /// Calls dropped while suspended at this await point.
    pub cancelled: u64,
    /// Polls that left the awaited resource unchanged; counted only for instrumented resources.
    pub spurious: u64,
    /// Bytes of the largest future awaited here; 0 if no large one was awaited.
    pub operand: u64,
}

impl SiteStats {
    /// Sets all to nothing, and keeps the memory.
    fn clear(&mut self) {
        let Self {
            waits,
            left,
            waited,
            longest,
            longest_wait,
            recent_wait,
            ended,
            wait,
            cancelled,
            spurious,
            operand,
        } = self;
        wait.clear();
        (*longest_wait, *recent_wait) = Default::default();
        for count in [
            waits, left, waited, longest, ended, cancelled, spurious, operand,
        ] {
            *count = 0;
        }
    }

    /// Ends the wait that began at `since`.
    pub(crate) fn resume(&mut self, since: u64, t: u64) {
        self.left = self.left.wrapping_add(1);
        self.waited = self.waited.wrapping_add(t);
        let wait = t.saturating_sub(since);
        self.longest = self.longest.max(wait);
        self.ended = self.ended.wrapping_add(wait);
        self.wait.add(bucket_of(wait) as u16, 1);
    }

    /// Adds the longest wait of a path: in the reader's tick, and since the start.
    pub(crate) fn add_longest(&mut self, [recent, ever]: &[LongestWait; 2]) {
        self.longest = self.longest.max(ever.waited);
        self.longest_wait.raise(ever);
        self.recent_wait.raise(recent);
    }

    /// What was counted since an earlier state.
    fn since(&self, before: &Self) -> Self {
        Self {
            waits: self.waits.wrapping_sub(before.waits),
            left: self.left.wrapping_sub(before.left),
            waited: self.waited.wrapping_sub(before.waited),
            cancelled: self.cancelled.wrapping_sub(before.cancelled),
            spurious: self.spurious.wrapping_sub(before.spurious),
            ended: self.ended.wrapping_sub(before.ended),
            wait: self.wait.since(&before.wait),
            ..*self
        }
    }

    /// Adds what was read under the seqlock: all but the histogram.
    fn add_counters(&mut self, more: &Self) {
        self.waits = self.waits.wrapping_add(more.waits);
        self.left = self.left.wrapping_add(more.left);
        self.waited = self.waited.wrapping_add(more.waited);
        self.longest = self.longest.max(more.longest);
        self.longest_wait.raise(&more.longest_wait);
        self.recent_wait.raise(&more.recent_wait);
        self.cancelled = self.cancelled.wrapping_add(more.cancelled);
        self.spurious = self.spurious.wrapping_add(more.spurious);
        self.operand = self.operand.max(more.operand);
        self.ended = self.ended.wrapping_add(more.ended);
    }

    /// The longest recent wait, if it is known which one it was: none is longer, as far as the
    /// histogram tells.
    #[must_use]
    pub fn known_longest(&self) -> Option<LongestWait> {
        let (top, _) = self.wait.iter().last()?;
        let is_it = bucket_of(self.recent_wait.waited) == usize::from(top);
        (is_it && self.recent_wait.end > 0).then_some(self.recent_wait)
    }

    /// Number of calls that wait here now.
    #[must_use]
    pub fn now(&self) -> u64 {
        live(self.waits, self.left)
    }
}

/// The edge from one proc to a proc that polls or creates its calls. Times are in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeStats {
    /// Polls directly nested in polls of the other proc.
    pub polls: u64,
    /// Duration of those polls.
    pub hold: u64,
    /// Calls constructed while a poll of the other proc was innermost.
    pub created: u64,
    /// Inclusive time of those calls.
    pub offspring: u64,
}

/// The longest wait at an await point, since the start or within a time. Times are in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LongestWait {
    /// Duration; 0 if there was no wait.
    pub waited: u64,
    /// When it ended.
    pub end: u64,
    /// Id of the task; 0 if unknown, as that of a call that was dropped while it waited.
    pub task: u64,
}

impl LongestWait {
    /// Takes the place of a shorter one.
    pub(crate) const fn raise(&mut self, other: &Self) {
        if other.waited > self.waited {
            *self = *other;
        }
    }
}

/// The longest finished poll of a proc, since the start or within a time. Times are in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LongestPoll {
    /// Duration; 0 if there was no poll.
    pub hold: u64,
    /// When it ended.
    pub end: u64,
    /// Id of the task; 0 if unknown.
    pub task: u64,
    /// Await point plus one at which the call waited before; 0 if that is unknown, or there was
    /// none, as in the first poll.
    pub after: u32,
    /// Number of the polling thread, as [`crate::account::ledger::Ledger::on_thread`] was told.
    pub thread: u32,
}

impl LongestPoll {
    /// Takes the place of a shorter one.
    pub(crate) const fn raise(&mut self, other: &Self) {
        if other.hold > self.hold {
            *self = *other;
        }
    }
}

/// One proc's totals. Times are in ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcStats {
    /// Times in ticks and counts, indexed by [`Sum`].
    pub sums: [u64; SUMS],
    /// Exact maxima, indexed by [`Population`].
    pub peaks: [u64; POPULATIONS],
    /// Histograms, indexed by [`Population`].
    pub populations: [Buckets; POPULATIONS],
    /// Longest poll that ended in the reader's current tick or the one before.
    pub recent_longest: u64,
    /// Which poll that was: the longest of those that are known, so it may be shorter.
    pub recent_poll: LongestPoll,
    /// Longest poll in progress; 0 if there is none.
    pub open_longest: u64,
    /// Longest finished poll since the start.
    pub longest_poll: LongestPoll,
    /// Size of the largest future, in bytes.
    pub future_bytes: u64,
    /// Indexed by await point plus one; 0 is the unknown await point.
    pub sites: Vec<SiteStats>,
    /// Keyed by the other proc's id.
    pub edges: Map<u32, EdgeStats>,
    /// Histogram of the calls that ended in their first poll, with nothing nested in it: their wall
    /// time is running time.
    pub single: Buckets,
    /// Where the time of slow calls went.
    pub slow: SlowSums,
}

fn live(begun: u64, over: u64) -> u64 {
    // A reader may see an end on one thread before the matching start on another.
    let live = begun.wrapping_sub(over);
    if live > u64::MAX / 2 { 0 } else { live }
}

impl ProcStats {
    /// Sets all to nothing, and keeps the memory.
    pub(super) fn clear(&mut self) {
        let Self {
            sums,
            peaks,
            populations,
            recent_longest,
            recent_poll,
            open_longest,
            longest_poll,
            future_bytes,
            sites,
            edges,
            single,
            slow,
        } = self;
        (*sums, *peaks) = ([0; SUMS], [0; POPULATIONS]);
        populations.iter_mut().for_each(Buckets::clear);
        (*recent_poll, *longest_poll) = Default::default();
        for longest in [recent_longest, open_longest, future_bytes] {
            *longest = 0;
        }
        sites.iter_mut().for_each(SiteStats::clear);
        edges.clear();
        single.clear();
        slow.clear();
    }

    /// Returns one sum: ticks, or a count.
    #[must_use]
    pub const fn sum(&self, sum: Sum) -> u64 {
        self.sums[sum as usize]
    }

    /// Returns the sum of a population's values.
    #[must_use]
    pub const fn sum_of(&self, population: Population) -> u64 {
        match population {
            Population::CallRunning => self.sum(Sum::CallRunning),
            Population::CallInclusive => self.sum(Sum::CallInclusive),
            Population::CallWall => self.sum(Sum::CallWall),
            Population::ReadyLatency => self.sum(Sum::ReadyLatency),
            Population::PollHold => self.sum(Sum::Hold).wrapping_sub(self.sum(Sum::OpenHold)),
            Population::PollRunning => self
                .sum(Sum::Running)
                .wrapping_sub(self.sum(Sum::OpenRunning)),
        }
    }

    /// Adds to one sum; wraps, since raw moments do.
    pub fn add(&mut self, sum: Sum, value: u64) {
        let slot = &mut self.sums[sum as usize];
        *slot = slot.wrapping_add(value);
    }

    /// Stats of an await point (its index plus one); 0 is the unknown one.
    pub(crate) fn site(&mut self, site: usize) -> &mut SiteStats {
        if self.sites.len() <= site {
            self.sites.resize_with(site + 1, SiteStats::default);
        }
        &mut self.sites[site]
    }

    /// Returns one exact maximum.
    #[must_use]
    pub const fn peak(&self, population: Population) -> u64 {
        self.peaks[population as usize]
    }

    /// Number of calls that have ended.
    #[must_use]
    pub const fn ended(&self) -> u64 {
        self.sum(Sum::Ready)
            .wrapping_add(self.sum(Sum::Cancelled))
            .wrapping_add(self.sum(Sum::Panicked))
    }

    /// Number of calls that have not ended and were not abandoned.
    #[must_use]
    pub fn live(&self) -> u64 {
        live(
            self.sum(Sum::Calls),
            self.ended().wrapping_add(self.sum(Sum::Abandoned)),
        )
    }

    /// Abandons live calls: accounting was disarmed.
    pub(super) fn abandon(&mut self) {
        let unstarted = live(self.sum(Sum::Calls), self.sum(Sum::Started));
        self.add(Sum::Abandoned, self.live());
        self.add(Sum::Started, unstarted);
        self.peaks[Population::PollHold as usize] = self.longest();
        self.open_longest = 0;
        for site in &mut self.sites {
            site.left = site.waits;
        }
    }

    /// The longest recent poll, if it is known which one it was.
    #[must_use]
    pub fn known_longest(&self) -> Option<LongestPoll> {
        let is_it = self.recent_poll.hold == self.recent_longest && self.recent_longest > 0;
        is_it.then_some(self.recent_poll)
    }

    /// Longest poll since the start, a poll in progress included.
    #[must_use]
    pub fn longest(&self) -> u64 {
        self.peak(Population::PollHold).max(self.open_longest)
    }

    /// Time between polls of started calls. Valid only after
    /// [`Aggregate::close_open_at`](crate::account::aggregate::Aggregate::close_open_at).
    #[must_use]
    pub const fn yielded(&self) -> u64 {
        let wall = self.sum(Sum::Wall);
        wall.saturating_sub(self.sum(Sum::Unstarted))
            .saturating_sub(self.sum(Sum::Hold))
    }

    /// Adds the counters of one row that were read under the seqlock: all but histograms and edges.
    pub(crate) fn add_counters(&mut self, other: &Self) {
        for (sum, add) in self.sums.iter_mut().zip(&other.sums) {
            *sum = sum.wrapping_add(*add);
        }
        for (peak, seen) in self.peaks.iter_mut().zip(&other.peaks) {
            *peak = (*peak).max(*seen);
        }
        self.recent_longest = self.recent_longest.max(other.recent_longest);
        self.open_longest = self.open_longest.max(other.open_longest);
        self.recent_poll.raise(&other.recent_poll);
        self.longest_poll.raise(&other.longest_poll);
        self.future_bytes = self.future_bytes.max(other.future_bytes);
        if self.sites.len() < other.sites.len() {
            self.sites
                .resize_with(other.sites.len(), SiteStats::default);
        }
        for (site, more) in self.sites.iter_mut().zip(&other.sites) {
            site.add_counters(more);
        }
    }

    /// Closes moments at `now`. Counts are not clamped here: if an end was read on one thread
    /// before its start on another, the count is one too low and the moment too high by `now`, and
    /// together they are right.
    pub(super) fn close_open_at(&mut self, now: u64) {
        let over = self.ended().wrapping_add(self.sum(Sum::Abandoned));
        let live = self.sum(Sum::Calls).wrapping_sub(over);
        let unstarted = self.sum(Sum::Calls).wrapping_sub(self.sum(Sum::Started));
        self.add(Sum::Wall, live.wrapping_mul(now));
        self.add(Sum::Unstarted, unstarted.wrapping_mul(now));
        for site in &mut self.sites {
            let open = site.waits.wrapping_sub(site.left);
            site.waited = site.waited.wrapping_add(open.wrapping_mul(now));
        }
    }

    /// Raises starts to the number of ends: the thread with the start was read too early.
    pub(super) fn reconcile(&mut self) {
        let over = self.ended().wrapping_add(self.sum(Sum::Abandoned));
        let started = self.sum(Sum::Started).max(over);
        self.sums[Sum::Started as usize] = started;
        self.sums[Sum::Calls as usize] = self.sum(Sum::Calls).max(started);
        for site in &mut self.sites {
            site.waits = site.waits.max(site.left);
        }
        self.clamp_parts();
    }

    /// Sets negative parts of wall time to zero and keeps wall time the sum of its parts.
    fn clamp_parts(&mut self) {
        let [wall, unstarted, hold] =
            [Sum::Wall, Sum::Unstarted, Sum::Hold].map(|sum| self.sum(sum));
        let mut wall = wall;
        let mut floored = |part: u64| {
            if part <= u64::MAX / 2 {
                return part;
            }
            wall = wall.wrapping_sub(part);
            0
        };
        let (unstarted, hold) = (floored(unstarted), floored(hold));
        for site in &mut self.sites {
            site.waited = floored(site.waited);
        }
        self.sums[Sum::Wall as usize] = wall;
        self.sums[Sum::Unstarted as usize] = unstarted;
        self.sums[Sum::Hold as usize] = hold;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.add_counters(other);
        for (buckets, more) in self.populations.iter_mut().zip(&other.populations) {
            buckets.merge(more);
        }
        for (site, more) in self.sites.iter_mut().zip(&other.sites) {
            site.wait.merge(&more.wait);
        }
        self.single.merge(&other.single);
        self.slow.merge(&other.slow);
        for (proc, more) in &other.edges {
            let edge = self.edges.entry(*proc).or_default();
            edge.polls = edge.polls.wrapping_add(more.polls);
            edge.hold = edge.hold.wrapping_add(more.hold);
            edge.created = edge.created.wrapping_add(more.created);
            edge.offspring = edge.offspring.wrapping_add(more.offspring);
        }
    }

    /// Difference to an earlier closed state of the same counters. Peaks and the longest wait cover
    /// the time since the start; what is called recent covers the recent ticks.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        let (own, before) = (&self.populations, &earlier.populations);
        let nothing = SiteStats::default();
        let sites = self.sites.iter().enumerate().map(|(at, site)| {
            let before = earlier.sites.get(at).unwrap_or(&nothing);
            site.since(before)
        });
        let mut grown = Self {
            populations: core::array::from_fn(|nth| own[nth].since(&before[nth])),
            sites: sites.collect(),
            edges: self.edges.clone(),
            single: self.single.since(&earlier.single),
            slow: self.slow.since(&earlier.slow),
            ..*self
        };
        for (sum, before) in grown.sums.iter_mut().zip(&earlier.sums) {
            *sum = sum.wrapping_sub(*before);
        }
        for (proc, edge) in grown.edges.iter_mut() {
            let Some(before) = earlier.edges.get(proc) else {
                continue;
            };
            edge.polls = edge.polls.wrapping_sub(before.polls);
            edge.hold = edge.hold.wrapping_sub(before.hold);
            edge.created = edge.created.wrapping_sub(before.created);
            edge.offspring = edge.offspring.wrapping_sub(before.offspring);
        }
        grown
    }

    /// Forgets what is called recent: these stats have outlived the ticks it covered.
    pub(super) fn forget_recent(&mut self) {
        (self.recent_longest, self.recent_poll) = (0, LongestPoll::default());
        for site in &mut self.sites {
            site.recent_wait = LongestWait::default();
        }
    }

    /// The longest poll of the first tick may be that of the tick `before`, which knows more of it.
    pub(crate) fn borrow_recent(&mut self, before: &Self) {
        if before.recent_poll.hold == self.recent_longest {
            self.recent_poll.raise(&before.recent_poll);
        }
    }

    /// What is called recent covers the time since the start.
    pub(crate) fn recall_all(&mut self) {
        self.recent_longest = self.peak(Population::PollHold);
        self.recent_poll = self.longest_poll;
        for site in &mut self.sites {
            site.recent_wait = site.longest_wait;
        }
    }

    /// Sets negative differences to zero: a poll read as open may have ended slightly earlier.
    pub(crate) fn floor(&mut self) {
        self.clamp_parts();
        for value in &mut self.sums {
            if *value > u64::MAX / 2 {
                *value = 0;
            }
        }
    }

    /// Whether nothing has happened in it since an earlier state.
    pub(super) fn is_still_since(&self, earlier: &Self) -> bool {
        let waits = |stats: &Self, site: usize| {
            let site = stats.sites.get(site);
            site.map_or((0, 0), |site| (site.waits, site.waited))
        };
        let mut sites = 0..self.sites.len();
        self.sums == earlier.sums && sites.all(|site| waits(self, site) == waits(earlier, site))
    }
}
