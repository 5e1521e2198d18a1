//! Assembly: turns totals in ticks and ids into rows in nanoseconds and names.

mod stack;

use alloc::string::String;
use alloc::vec::Vec;

use super::metric_rows::MetricName;
use crate::account::aggregate::{LongestPoll, LongestWait, ProcStats, SiteStats};
use crate::account::counters::{OTHERS, Population, Sum};
use crate::account::histogram::{Buckets, bucket_of, upper_bound};
use crate::account::task::{Pause, TaskMeta, TaskReading};
use crate::account::time::Scale;
use crate::collect::history::{Totals, Trend, Window};
use crate::snapshot::UNSEEN;
use crate::snapshot::expression::{awaits_a_notice, awaits_a_timer, awaits_an_item};
use crate::snapshot::quantile::Distribution;
use crate::snapshot::{
    AwaitRow, Caller, PauseRow, Place, PollRow, ProcRow, Spot, StackRow, TaskParts, TaskRow,
    TaskState,
};
use crate::sorting;

/// Name and source location of a proc.
#[derive(Clone, Copy, Debug)]
pub struct ProcName<'a> {
    /// Path of the proc: `crate::module::Type::function`.
    pub path: &'a str,
    /// Source file, as the compiler names it.
    pub file: &'a str,
    /// Line of the signature, from 1.
    pub line: u32,
}

/// Lookup of names by id.
pub trait Names {
    /// The proc with this id.
    fn proc(&self, id: u32) -> Option<ProcName<'_>>;
    /// The proc's await point with this index, from 0.
    fn place(&self, proc: u32, site: u16) -> Option<Place>;
    /// The attributes declared at the proc.
    fn attributes(&self, _proc: u32) -> &[(String, String)] {
        &[]
    }
    /// The counter or gauge with this site number.
    fn metric(&self, _site: u32) -> Option<MetricName<'_>> {
        None
    }
}

/// What a task waits for while it has nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleWait {
    /// A timer.
    Timer,
    /// An item of a channel.
    Item,
    /// A notification.
    Notice,
}

impl IdleWait {
    const fn word(self) -> &'static str {
        match self {
            Self::Timer => "timer",
            Self::Item => "recv",
            Self::Notice => "event",
        }
    }

    /// Whether nothing else is awaited there, as the text shows; of a notification, whether it has
    /// never come in the window: one that has come was perhaps slow.
    fn is_all_of(self, place: &Place, waited: u64) -> bool {
        match self {
            Self::Timer => awaits_a_timer(&place.expr),
            Self::Item => awaits_an_item(&place.expr),
            Self::Notice => waited == 0 && awaits_a_notice(&place.expr),
        }
    }
}

/// The input from which one instant's rows are assembled.
pub struct Assembly<'a, N> {
    /// Sums of the window.
    pub window: &'a Window,
    /// Each proc's share of a core over the last minute.
    pub trend: &'a Trend,
    /// Totals since the start; live calls and open polls are read from these.
    pub now: &'a Totals,
    /// Lookup of names by id.
    pub names: &'a N,
    /// Length of a tick.
    pub scale: Scale,
}

impl<N: Names> Assembly<'_, N> {
    /// Returns a row for each proc, by id. `who` returns the names of the thread and the task of a
    /// poll.
    #[must_use]
    pub fn procs(&self, who: &dyn Fn(&LongestPoll) -> [Option<String>; 2]) -> Vec<ProcRow> {
        let procs = self.now.aggregate.procs.iter().enumerate();
        procs
            .filter_map(|(id, today)| {
                let id = id as u32;
                let mut row = self.proc_row(id, today)?;
                let ever = today.longest_poll;
                if ever.hold > 0 {
                    row.max_ever_ns = self.scale.ns(ever.hold);
                    row.max_ever_ago_ns = Some(self.ago(ever.end));
                    row.max_ever_after = self.spot(id, ever.after);
                    [row.max_ever_on, row.max_ever_task] = who(&ever);
                }
                let window = self.window.aggregate.procs.get(id as usize);
                if let Some(longest) = window.and_then(ProcStats::known_longest)
                    && !row.max_poll_open
                {
                    row.max_poll_ago_ns = Some(self.ago(longest.end));
                    row.max_poll_after = self.spot(id, longest.after);
                    [row.max_poll_on, row.max_poll_task] = who(&longest);
                }
                Some(row)
            })
            .collect()
    }

    /// Nanoseconds from an instant to that of the totals; of what has begun since, to `read_at`.
    #[must_use]
    pub fn ago_by(&self, since: u64, read_at: u64) -> u64 {
        let now = if since > self.now.at {
            read_at
        } else {
            self.now.at
        };
        self.scale.ns(now.saturating_sub(since))
    }

    /// Nanoseconds since an instant.
    fn ago(&self, at: u64) -> u64 {
        self.scale.ns(self.now.at.saturating_sub(at))
    }

    /// Where an await point begins, given plus one.
    fn spot(&self, proc: u32, site: u32) -> Option<Spot> {
        let place = self.place(proc, site as u16)?;
        Some(Spot {
            file: place.file,
            line: place.line,
            column: place.column,
        })
    }

    fn proc_row(&self, id: u32, today: &ProcStats) -> Option<ProcRow> {
        let name = self.names.proc(id)?;
        let nothing = ProcStats::default();
        let window = self
            .window
            .aggregate
            .procs
            .get(id as usize)
            .unwrap_or(&nothing);
        let ns = |sum| self.scale.ns(positive(window.sum(sum)));
        let running = positive(window.sum(Sum::Running));
        Some(ProcRow {
            proc: String::from(name.path),
            file: String::from(name.file),
            line: name.line,
            future_bytes: today.future_bytes,
            running_ns: self.scale.ns(running),
            trend_ppm: self.trend.of(id).to_vec(),
            inclusive_ns: ns(Sum::Inclusive),
            hold_ns: ns(Sum::Hold),
            yielded_ns: self.scale.ns(yielded(window)),
            unstarted_ns: ns(Sum::Unstarted),
            wall_ns: ns(Sum::Wall),
            max_poll_ns: self.scale.ns(window.recent_longest.max(today.open_longest)),
            max_poll_open: today.open_longest > 0 && today.open_longest >= window.recent_longest,
            calls: window.sum(Sum::Calls),
            polls: window.sum(Sum::Polls),
            live: today.live(),
            ready: window.sum(Sum::Ready),
            err: window.sum(Sum::Err),
            cancelled: window.sum(Sum::Cancelled),
            panicked: window.sum(Sum::Panicked),
            never_polled: window.sum(Sum::NeverPolled),
            immediate: window.sum(Sum::Immediate),
            unknown_births: window.sum(Sum::UnknownBirths),
            occupancy_ppm: ratio_ppm(running, self.window.length),
            call_running: self.distribution(window, Population::CallRunning),
            call_inclusive: self.distribution(window, Population::CallInclusive),
            call_wall: self.distribution(window, Population::CallWall),
            poll_hold: self.distribution(window, Population::PollHold),
            poll_running: self.distribution(window, Population::PollRunning),
            ready_latency: self.distribution(window, Population::ReadyLatency),
            callers: self.callers(window),
            attributes: self.names.attributes(id).to_vec(),
            ..ProcRow::default()
        })
    }

    fn distribution(&self, stats: &ProcStats, population: Population) -> Distribution {
        let buckets: &Buckets = &stats.populations[population as usize];
        // For polls the window's own maximum is known.
        let peak = match population {
            Population::PollHold => stats.recent_longest,
            _ => stats.peak(population),
        };
        self.sampled(buckets, stats.sum_of(population), peak)
    }

    fn waits(&self, site: &SiteStats) -> Distribution {
        let longest = site.known_longest();
        let longest = longest.map_or(site.longest, |wait| wait.waited);
        self.sampled(&site.wait, site.ended, longest)
    }

    /// A population with this sum. `peak` is a value at least as large as its maximum; so is the
    /// bound of its largest bucket.
    fn sampled(&self, buckets: &Buckets, sum: u64, peak: u64) -> Distribution {
        let top = buckets.iter().last();
        let top = top.map_or(0, |(bucket, _)| upper_bound(usize::from(bucket)));
        Distribution {
            n: buckets.total(),
            sum_ns: self.scale.ns(positive(sum)),
            max_ns: self.scale.ns(peak.min(top)),
            buckets: bounds(buckets, self.scale),
        }
    }

    /// Distribution of a population, in ticks, that belongs to no proc. The sum is computed from
    /// the upper bounds of its buckets; so is the maximum, unless `longest` is in the highest one.
    #[must_use]
    pub fn population(&self, buckets: &Buckets, longest: Option<u64>) -> Distribution {
        let bound = |bucket: u16| upper_bound(usize::from(bucket));
        let sum = buckets
            .iter()
            .map(|(bucket, count)| bound(bucket).saturating_mul(count));
        let top = buckets.iter().last().map_or(0, |(bucket, _)| bucket);
        let longest = longest.filter(|&ticks| bucket_of(ticks) == usize::from(top));
        Distribution {
            n: buckets.total(),
            sum_ns: self.scale.ns(sum.fold(0, u64::saturating_add)),
            max_ns: self.scale.ns(longest.unwrap_or(bound(top))),
            buckets: bounds(buckets, self.scale),
        }
    }

    fn callers(&self, stats: &ProcStats) -> Vec<Caller> {
        let edges = stats.edges.iter().filter(|(_, edge)| edge.polls > 0);
        let mut callers: Vec<Caller> = edges
            .filter_map(|(&id, edge)| {
                let proc = match id {
                    OTHERS => "others",
                    id => self.names.proc(id)?.path,
                };
                let proc = String::from(proc);
                Some(Caller {
                    proc,
                    polls: edge.polls,
                    hold_ns: self.scale.ns(edge.hold),
                })
            })
            .collect();
        sorting::by(&mut callers, |a, b| {
            b.hold_ns.cmp(&a.hold_ns).then_with(|| a.proc.cmp(&b.proc))
        });
        callers
    }

    /// Returns a row for each await point with waits, by proc and await point. `idle` returns what
    /// the root of a task waits for again and again at an await point, counted from 1; `name` that
    /// of a task.
    #[must_use]
    pub fn awaits(
        &self,
        idle: &dyn Fn(u32, u16) -> Option<IdleWait>,
        name: &dyn Fn(u64) -> Option<String>,
    ) -> Vec<AwaitRow> {
        let procs = self.now.aggregate.procs.iter().enumerate();
        procs
            .flat_map(|(id, today)| self.await_rows(id as u32, today, idle, name))
            .collect()
    }

    fn await_rows(
        &self,
        id: u32,
        today: &ProcStats,
        idle: &dyn Fn(u32, u16) -> Option<IdleWait>,
        task: &dyn Fn(u64) -> Option<String>,
    ) -> Vec<AwaitRow> {
        let nothing = ProcStats::default();
        let window = self
            .window
            .aggregate
            .procs
            .get(id as usize)
            .unwrap_or(&nothing);
        let Some(name) = self.names.proc(id) else {
            return Vec::new();
        };
        let none = SiteStats::default();
        let sites = today
            .sites
            .iter()
            .enumerate()
            .filter(|(_, site)| site.waits > 0);
        sites
            .map(|(slot, site)| {
                let grown = window.sites.get(slot).unwrap_or(&none);
                let waited = positive(grown.waited);
                let place = self.place(id, slot as u16).unwrap_or_else(|| unseen(&name));
                let longest = Some(site.longest_wait);
                let longest = longest.filter(|wait| wait.waited > 0 && wait.waited == site.longest);
                let recent = grown.known_longest();
                let ago = |wait: LongestWait| self.ago(wait.end);
                let await_wait = self.waits(grown);
                let idle = idle(id, slot as u16);
                let idle = idle.filter(|idle| idle.is_all_of(&place, await_wait.n));
                AwaitRow {
                    proc: String::from(name.path),
                    place,
                    idle: idle.map_or("", IdleWait::word).into(),
                    waits: grown.waits,
                    now: site.now(),
                    waited_ns: self.scale.ns(waited),
                    max_wait_ns: self.scale.ns(site.longest),
                    max_wait_ago_ns: longest.map(ago),
                    max_wait_task: longest.and_then(|wait| task(wait.task)),
                    share_ppm: ratio_ppm(waited, yielded(window)),
                    cancelled: grown.cancelled,
                    await_wait,
                    wait_max_ns: recent.map(|wait| self.scale.ns(wait.waited)),
                    wait_max_ago_ns: recent.map(ago),
                    wait_max_task: recent.and_then(|wait| task(wait.task)),
                }
            })
            .collect()
    }

    /// `site` is the await point plus one; 0 is the unknown one.
    pub(super) fn place(&self, proc: u32, site: u16) -> Option<Place> {
        self.names.place(proc, site.checked_sub(1)?)
    }

    /// Returns the row of a live task with the requested `parts`. `polled` is the stack of the
    /// thread that polls the task; `word` is the prefix of the names of tasks with its root proc.
    #[must_use]
    pub fn task(
        &self,
        meta: &TaskMeta,
        reading: &TaskReading,
        polled: Option<&[crate::collect::read::OpenPollReading]>,
        word: &str,
        parts: TaskParts,
    ) -> Option<TaskRow> {
        let root = self.names.proc(meta.root())?;
        let now = self.read_at(reading);
        let age = |since: u64| self.scale.ns(now.saturating_sub(since));
        let mut row = TaskRow {
            id: meta.id,
            state: TaskState::Waiting,
            since_ns: age(reading.since),
            age_ns: age(meta.created),
            polls: reading.polls,
            running_ns: self.scale.ns(reading.running),
            max_poll_ns: self.scale.ns(reading.longest),
            future_bytes: u64::from(meta.future_bytes),
            stack_truncated: reading.truncated,
            last_poll: self.last_poll(reading, polled.is_some()),
            ..TaskRow::default()
        };
        if parts.name {
            row.name = alloc::format!("{word}-{}", meta.ordinal());
        }
        if parts.root {
            row.root = String::from(root.path);
        }
        if let (None, Some(woken)) = (polled, reading.waker.and_then(|waker| waker.woken)) {
            row.state = TaskState::Ready;
            row.since_ns = age(woken.max(reading.since));
        }
        if let Some(pause) = &reading.pause {
            row.state = TaskState::Paused;
            row.since_ns = age(pause.since.max(reading.since));
            row.pause = Some(self.pause(pause));
        }
        if polled.is_some() {
            row.state = TaskState::Polling;
            row.since_ns = age(reading.since);
            row.max_poll_ns = row.max_poll_ns.max(row.since_ns);
            row.running_ns += row.since_ns;
        }
        if parts.stack {
            row.stack = match polled {
                Some(open) => self.open_stack(open, now),
                None => self.stack(reading),
            };
        }
        Some(row)
    }

    /// The instant of a task's row: that of the totals, unless its state is newer. Tasks are read
    /// after the threads and keep running meanwhile.
    fn read_at(&self, reading: &TaskReading) -> u64 {
        self.now.at.max(reading.read_at)
    }

    fn last_poll(&self, reading: &TaskReading, open: bool) -> Option<PollRow> {
        let last = reading.last?;
        let age = self.read_at(reading).saturating_sub(reading.began);
        let took = reading.since.saturating_sub(reading.began);
        let ready = last.readied.map(|readied| {
            let ready = reading.began.saturating_sub(readied.since);
            self.scale.ns(ready)
        });
        Some(PollRow {
            ago_ns: self.scale.ns(age),
            took_ns: (!open).then(|| self.scale.ns(took)),
            ready_ns: ready,
            ..PollRow::default()
        })
    }

    fn pause(&self, pause: &Pause) -> PauseRow {
        PauseRow {
            by: pause.by.clone(),
            left_ns: pause.left.map(|ticks| self.scale.ns(ticks)),
            woken: pause.woken,
            address: pause.address,
        }
    }

    fn open_stack(
        &self,
        open: &[crate::collect::read::OpenPollReading],
        now: u64,
    ) -> Vec<StackRow> {
        let named = open.iter().enumerate().filter_map(|(depth, poll)| {
            Some(StackRow {
                depth: depth as u32,
                proc: String::from(self.names.proc(poll.proc)?.path),
                place: self.place(poll.proc, poll.site),
                since_ns: self.scale.ns(now.saturating_sub(poll.start)),
                ..StackRow::default()
            })
        });
        named.collect()
    }
}

/// Upper bounds in nanoseconds, ascending, with their counts. Buckets of a fast clock that round to
/// the same nanosecond are merged.
fn bounds(buckets: &Buckets, scale: Scale) -> Vec<(u64, u64)> {
    let mut bounds: Vec<(u64, u64)> = Vec::new();
    for (bucket, count) in buckets.iter() {
        let upper = scale.ns_up(upper_bound(usize::from(bucket)));
        match bounds.last_mut() {
            Some(last) if last.0 == upper => last.1 += count,
            _ => bounds.push((upper, count)),
        }
    }
    bounds
}

pub(super) fn unseen(name: &ProcName<'_>) -> Place {
    Place {
        file: String::from(name.file),
        line: name.line,
        end_line: name.line,
        expr: String::from(UNSEEN),
        ..Place::default()
    }
}

fn yielded(stats: &ProcStats) -> u64 {
    let rest = positive(stats.sum(Sum::Wall)).saturating_sub(positive(stats.sum(Sum::Unstarted)));
    rest.saturating_sub(positive(stats.sum(Sum::Hold)))
}

/// Zero for a negative sum: a window's sum may be slightly negative if a thread was read in the
/// middle of an event.
pub(super) const fn positive(sum: u64) -> u64 {
    if sum > u64::MAX / 2 { 0 } else { sum }
}

pub(super) fn ratio_ppm(part: u64, whole: u64) -> u64 {
    let ppm = u128::from(part) * 1_000_000 / u128::from(whole.max(1));
    u64::try_from(ppm).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::bounds;
    use crate::account::histogram::{Buckets, bucket_of};
    use crate::account::time::Scale;

    #[test]
    fn buckets_shorter_than_a_nanosecond_are_one() {
        let mut buckets = Buckets::default();
        for (ticks, count) in [(0, 5), (40, 1), (41, 2), (43, 4), (1_023, 8)] {
            buckets.add(bucket_of(ticks) as u16, count);
        }
        // Four ticks per nanosecond.
        let expected = [(0, 5), (10, 1), (11, 6), (256, 8)];
        assert_eq!(bounds(&buckets, Scale::new(1, 2)), expected);
    }
}
