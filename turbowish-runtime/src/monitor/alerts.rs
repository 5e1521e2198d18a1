//! Alert scans of the monitor, at its own interval and independent of consoles.

pub(in crate::monitor) mod looks;
mod news;

use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use turbowish_model::account::histogram::{bucket_of, upper_bound};
use turbowish_model::account::time::MinOfLastTwo;
use turbowish_model::collect::assemble::{Assembly, Names};
use turbowish_model::collect::history::{Totals, Trend, Window};
use turbowish_model::diagnose::alert::{Detector, Limit, Limits};
use turbowish_model::snapshot::AwaitRow;
use turbowish_model::snapshot::alert::{Alert, worst_first};
use turbowish_model::sorting;

use self::looks::WorkerLooks;
use self::news::AlertNews;
use super::cost::Series;
use super::idle::IdleWaits;
use super::registry::Registry;
use super::situation::crowd::Crowd;
use super::situation::{Scout, SituationBuilder, claims};
use super::tasks::NameTable;
use super::{Monitor, resources};
use crate::hot::{clock, pause, proc, switch};
use crate::lock::lock;
use crate::monitor::collector::ThreadNow;
use crate::monitor::cpu_time;
use crate::resource;
use crate::server::News;

/// State of alert detection.
#[derive(Debug, Default)]
pub(super) struct AlertWatch {
    detector: Detector,
    scout: Scout,
    alerts: Vec<Alert>,
    news: AlertNews,
    pace: ScanPace,
    looks: WorkerLooks,
    /// Since when the heartbeat waits, in ticks.
    heartbeat: Option<u64>,
    /// When the next of the open polls becomes too long, in ticks.
    long_at: Option<u64>,
    idle: IdleWaits,
    pub(super) uses: Series,
    /// Processor time of the monitor's thread, in nanoseconds.
    pub(super) spent: Series,
}

/// When a scan is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScanAt {
    /// At the end of a tick.
    Tick,
    /// Between two ticks: what it does not find may be found at the next.
    Between,
}

/// Interval of the scans.
#[derive(Debug)]
struct ScanPace {
    /// Processor time of a scan.
    usual: MinOfLastTwo,
    due: Option<Instant>,
    /// Interval before the next one.
    interval: Duration,
    /// When an urgent scan may be made.
    urgent: Option<Instant>,
}

/// A scan may use one part in this many of a core: with very many tasks there are fewer scans.
const SHARE: u32 = 100;
/// The same of scans that are due because a poll has become too long, or such a poll has ended.
const URGENT_SHARE: u32 = 10;

/// Shortest interval of the scans.
const SHORTEST: Duration = Duration::from_millis(200);
/// Shortest interval between a scan and an urgent one.
const SHORTEST_URGENT: Duration = Duration::from_millis(50);
/// Time between two looks at the heartbeat after which the whole process may have been stopped.
const LATE_NS: u64 = 900_000_000;

/// Time for which a long poll is scanned for at each beat: three of them, in nanoseconds.
const SUSPECT_NS: u64 = 750_000_000;

/// Half the longest interval of the ticks.
const CLOSE: Duration = Duration::from_millis(500);

/// Longest interval of the scans, however long they take.
const LONGEST: Duration = Duration::from_secs(10);

impl Default for ScanPace {
    fn default() -> Self {
        Self {
            usual: MinOfLastTwo::NOTHING,
            due: None,
            interval: Duration::ZERO,
            urgent: None,
        }
    }
}

impl ScanPace {
    fn is_due(&self, now: Instant, is_urgent: bool) -> bool {
        let due = if is_urgent { self.urgent } else { self.due };
        due.is_none_or(|due| now >= due)
    }

    /// Schedules the next scan, after one that began at `begun` and took `took`.
    fn next(&mut self, begun: Instant, took: Duration) {
        let usual = self.usual.after(took);
        let after = |share, least| usual.saturating_mul(share).clamp(least, LONGEST);
        self.interval = after(SHARE, SHORTEST);
        self.due = Some(begun + self.interval);
        self.urgent = Some(begun + after(URGENT_SHARE, SHORTEST_URGENT));
    }

    /// Whether a scan between two ticks that are a second apart puts off none of theirs.
    fn is_close(&self) -> bool {
        self.interval <= CLOSE
    }
}

impl Monitor {
    pub(super) fn watch(&self) -> MutexGuard<'_, AlertWatch> {
        lock(&self.thread.watch)
    }

    /// Looks for alerts at a tick, if a scan is due.
    pub(super) fn look_for_alerts(&self, totals: &Totals, threads: &[ThreadNow], epoch: u32) {
        self.scan_at(ScanAt::Tick, totals, threads, epoch);
    }

    fn scan_at(&self, at: ScanAt, totals: &Totals, threads: &[ThreadNow], epoch: u32) {
        let mut watch = self.watch();
        watch.spent.raise(totals.at, self.thread.cpu_time.look());
        watch.scan(self, at, totals, threads, epoch);
    }

    /// Pauses and alerts end when accounting is disarmed.
    pub(super) fn end_pauses_and_alerts(&self) {
        pause::resume_all();
        self.begin_alerts_anew();
    }

    /// Forgets what was known for alerts. Those that are active are not told to be over.
    pub(super) fn begin_alerts_anew(&self) {
        self.watch().forget();
    }

    /// Active alerts and those that ended a short time ago, the worst first; and how many of the
    /// latter had no room.
    pub(super) fn alerts(&self) -> (Vec<Alert>, u64) {
        let now = self.scale.ns(clock::ticks());
        let mut watch = self.watch();
        let past = watch.detector.past(now);
        let mut alerts = watch.alerts.clone();
        alerts.extend(past);
        sorting::by_key(&mut alerts, worst_first);
        (alerts, watch.detector.forgotten())
    }

    /// The rows of await points, with the idle waits that the scans have seen.
    pub(super) fn awaits<N: Names>(
        &self,
        assembly: &Assembly<'_, N>,
        name: &dyn Fn(u64) -> Option<String>,
    ) -> Vec<AwaitRow> {
        let watch = self.watch();
        assembly.awaits(&|proc, site| watch.idle.at(proc, site), name)
    }

    /// Alerts that were raised and alerts that are over, since the last call.
    pub(super) fn alert_news(&self) -> Vec<News> {
        self.watch().news.take()
    }

    /// What a scan does to find idle waits.
    #[cfg(test)]
    pub(crate) fn look_for_idle(&self) {
        self.watch().idle.look(&resources::judged());
    }

    /// Time until a look is due before the next beat: one of the open polls becomes too long then,
    /// and may be over at the beat.
    pub(crate) fn next_look(&self) -> Option<Duration> {
        let watch = self.watch();
        let long_in = watch.long_at?.saturating_sub(clock::ticks());
        let long_in = Duration::from_nanos(self.scale.ns(long_in));
        let urgent_in = watch.pace.urgent.map_or(Duration::ZERO, |urgent| {
            urgent.saturating_duration_since(Instant::now())
        });
        Some(long_in.max(urgent_in))
    }

    /// Looks at the workers between two ticks, and for alerts if that is urgent.
    pub(crate) fn look(&self) {
        // If this look fails, it is not due again.
        self.watch().long_at = None;
        let mut state = self.state();
        if state.switched.off_at.is_some() {
            return;
        }
        let threads = state.gather.threads(clock::ticks);
        let (now, epoch) = (clock::ticks(), state.switched.epoch);
        drop(state);
        if !self.watch().look_in(self, &threads, now, epoch) {
            return;
        }
        let mut state = self.state();
        if state.switched.off_at.is_some() {
            return;
        }
        let used = cpu_time::used();
        let (totals, threads) = state.read();
        let epoch = state.switched.epoch;
        drop(state);
        self.thread.charge(cpu_time::used().saturating_sub(used));
        self.scan_at(ScanAt::Between, &totals, &threads, epoch);
    }

    /// Length of the windows over which the rules take rates.
    pub(super) fn alert_window(&self) -> Duration {
        Duration::from_nanos(self.watch().detector.limits().get(Limit::Window))
    }

    /// Whether there are so many polls that they are counted between two ticks, too.
    pub(crate) fn is_dense(&self) -> bool {
        let watch = self.watch();
        let limit = watch.detector.limits().get(Limit::Overload);
        watch.scout.is_dense(limit)
    }

    /// Counts polls between two ticks: a burst may be over at the next tick.
    pub(crate) fn sample(&self) {
        let mut state = self.state();
        if state.switched.off_at.is_some() {
            return;
        }
        let polls = state.gather.polls();
        drop(state);
        let now = self.scale.ns(clock::ticks());
        self.watch().scout.sample(now, polls);
    }

    /// Share of a core that the monitor's thread used in the assembly's window.
    pub(super) fn monitor_ppm<N: Names>(
        &self,
        assembly: &Assembly<'_, N>,
        uptime_ns: u64,
    ) -> Option<u64> {
        let whole = self.thread.cpu_time.all().map(|used| (used, uptime_ns));
        let (window, watch) = (assembly.window, self.watch());
        let begin = assembly.now.at.saturating_sub(window.length);
        let grown = watch.spent.grown(begin).filter(|_| !window.since_start);
        let grown = grown.map(|(used, ticks)| (used, assembly.scale.ns(ticks)));
        let (used, within_ns) = grown.or(whole)?;
        let ppm = (u128::from(used) * 1_000_000).checked_div(u128::from(within_ns))?;
        Some(u64::try_from(ppm).unwrap_or(u64::MAX))
    }

    /// Uses of resources in the assembly's window, also of those that are gone.
    pub(super) fn uses<N: Names>(&self, assembly: &Assembly<'_, N>) -> u64 {
        let (watch, window) = (self.watch(), assembly.window);
        if window.since_start {
            watch.uses.total
        } else {
            let begin = assembly.now.at.saturating_sub(window.length);
            watch.uses.since(begin)
        }
    }

    /// Sets the limits of alert rules, then those given as names and values. Returns a line for
    /// each invalid text.
    pub(crate) fn limit(&self, mut limits: Limits, texts: &[(String, String)]) -> Vec<String> {
        let set = |(name, value): &(String, String)| limits.set_text(name, value).err();
        let faults = texts.iter().filter_map(set);
        let lines = faults.map(|fault| fault.to_string()).collect();
        resource::late_from(limits.get(Limit::LateTimersLate));
        *self.watch() = AlertWatch::new(limits);
        lines
    }
}

impl AlertWatch {
    fn new(limits: Limits) -> Self {
        Self {
            detector: Detector::new(limits),
            ..Self::default()
        }
    }

    /// Discards all state except alerts that are over: nothing is known while accounting is
    /// disarmed.
    pub(super) fn forget(&mut self) {
        let mut detector = std::mem::take(&mut self.detector);
        detector.stop();
        let (uses, spent) = (&mut self.uses, &mut self.spent);
        let (uses, spent) = (std::mem::take(uses), std::mem::take(spent));
        *self = Self {
            detector,
            uses,
            spent,
            ..Self::default()
        };
    }

    fn scan(
        &mut self,
        monitor: &Monitor,
        at: ScanAt,
        totals: &Totals,
        threads: &[ThreadNow],
        epoch: u32,
    ) {
        // Disarmed since this was read: the state was discarded, and must stay so.
        if switch::epoch() != Some(epoch) {
            return;
        }
        let is_due = self.look(monitor, threads, totals.at);
        if is_due || self.pace.is_due(Instant::now(), false) {
            // If this scan panics, it is not due again.
            self.long_at = None;
            self.scan_now(monitor, at, totals, threads, epoch);
            self.looks.scanned(totals.at);
            self.long_at = self.looks.next_long(threads, self.long(monitor));
        }
    }

    /// The length of a poll that is too long, in ticks.
    fn long(&self, monitor: &Monitor) -> u64 {
        let limits = self.detector.limits();
        let long = limits.get(Limit::BlockedWorker);
        monitor
            .scale
            .ticks(long.min(limits.get(Limit::NeverYields)))
    }

    /// Looks at the workers, which were read at `now` in that epoch. Returns whether a scan is due,
    /// although no tick ends.
    fn look_in(&mut self, monitor: &Monitor, threads: &[ThreadNow], now: u64, epoch: u32) -> bool {
        // As for a scan.
        switch::epoch() == Some(epoch) && self.look(monitor, threads, now)
    }

    fn look(&mut self, monitor: &Monitor, threads: &[ThreadNow], now: u64) -> bool {
        let (held, long) = (
            self.detector.limits().get(Limit::BlockedWorker),
            self.long(monitor),
        );
        // From the lower end of its bucket on: shorter polls are counted by length.
        let bucket = bucket_of(monitor.scale.ticks(held));
        let least = upper_bound(bucket.saturating_sub(1)) + 1;
        self.looks.look(threads, monitor.scale, least);
        let pace = monitor.scale.ticks(LATE_NS);
        self.heartbeat = monitor.thread.heartbeat.ask(now, pace);
        self.long_at = self.looks.next_long(threads, long);
        let is_urgent = self.looks.is_urgent(threads, now, long);
        // What a rule wants to see twice is scanned for at each beat, and then with the ticks.
        let from =
            |ns: u64| monitor.scale.ticks(ns)..monitor.scale.ticks(ns.saturating_add(SUSPECT_NS));
        let suspect = from(self.detector.limits().get(Limit::LongPollAlert));
        let held = from(held);
        let stands = |since: u64| held.contains(&now.saturating_sub(since));
        let is_suspect = looks::is_open_for(threads, now, &suspect)
            || self.heartbeat.is_some_and(stands)
            || self.detector.wants_extra() && self.pace.is_close();
        let begun = Instant::now();
        is_urgent && self.pace.is_due(begun, true) || is_suspect && self.pace.is_due(begun, false)
    }

    fn scan_now(
        &mut self,
        monitor: &Monitor,
        at: ScanAt,
        totals: &Totals,
        threads: &[ThreadNow],
        epoch: u32,
    ) {
        let begun = Instant::now();
        let used = cpu_time::used();
        let names = Registry(proc::all());
        let (window, trend) = (Window::default(), Trend::default());
        let assembly = Assembly {
            window: &window,
            trend: &trend,
            now: totals,
            names: &names,
            scale: monitor.scale,
        };
        let idle_ns = self.detector.limits().get(Limit::TaskLeakIdle);
        let pick = self.scout.pick(epoch, monitor.scale, totals.at, idle_ns);
        let mut crowd = Crowd::read(threads, monitor.pauses(), pick);
        let resources = resources::judged();
        self.idle.look(&resources);
        crowd.pick(&claims(&resources));
        crowd.sample(&names.ids(self.detector.growing()));
        let known = NameTable::of(&assembly, crowd.picked(), threads, epoch);
        let situation = self.scout.situation(&SituationBuilder {
            assembly: &assembly,
            threads,
            crowd: &crowd,
            known: &known,
            resources: &resources,
            heartbeat: self.heartbeat,
            long_ns: self.detector.limits().get(Limit::LongPollWarn),
            held_ns: self.detector.limits().get(Limit::BlockedWorker),
            looks: &self.looks,
        });
        self.uses.tick(totals.at, self.scout.used());
        let found = match at {
            ScanAt::Tick => self.detector.scan(&situation),
            ScanAt::Between => self.detector.scan_extra(&situation),
        };
        let before = std::mem::replace(&mut self.alerts, found);
        self.news.compare(&before, &self.alerts);
        self.news.told_late(self.detector.told_late());
        let took = cpu_time::used().saturating_sub(used);
        self.pace.next(begun, took);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Monitor, ScanAt, ScanPace};
    use crate::tests::stage::alone;

    /// Otherwise alerts found by a running scan would stay active after accounting was disarmed,
    /// until it is armed again.
    #[test]
    fn a_scan_of_an_epoch_that_is_over_finds_nothing() {
        let _alone = alone();
        let monitor = Monitor::new("test".into());
        let scan = |epoch| {
            let (totals, threads) = monitor.totals();
            let mut watch = monitor.watch();
            watch.scan(&monitor, ScanAt::Tick, &totals, &threads, epoch);
            drop(watch);
            monitor.watch().pace.due.is_some()
        };
        monitor.arm();
        let epoch = monitor.state().switched.epoch;
        assert!(scan(epoch));
        monitor.disarm();
        assert!(!scan(epoch));
        monitor.arm();
        assert!(!scan(epoch));
        monitor.disarm();
    }

    /// Durations of successive scans, and the interval after each, and before an urgent one; in
    /// milliseconds.
    #[test]
    fn scans_that_take_long_come_less_often() {
        let mut pace = ScanPace::default();
        let begun = Instant::now();
        assert!(pace.is_due(begun, false));
        // A single long scan does not count, not even the first one; two do.
        for (took, expected, urgent) in [
            (150, 200, 50),
            (1, 200, 50),
            (5, 200, 50),
            (150, 500, 50),
            (20, 2_000, 200),
            (30, 2_000, 200),
            (30, 3_000, 300),
            (4_000, 3_000, 300),
            // However long a scan takes, alerts appear.
            (u64::MAX / 1_000_000, 10_000, 10_000),
            (2, 200, 50),
        ] {
            pace.next(begun, Duration::from_millis(took));
            let due = begun + Duration::from_millis(expected);
            assert_eq!(pace.due, Some(due), "{took}");
            let early = due - Duration::from_nanos(1);
            assert!(!pace.is_due(early, false) && pace.is_due(due, false));
            let urgent = begun + Duration::from_millis(urgent);
            assert_eq!(pace.urgent, Some(urgent), "{took}");
            let early = urgent - Duration::from_nanos(1);
            assert!(!pace.is_due(early, true) && pace.is_due(urgent, true));
        }
    }
}
