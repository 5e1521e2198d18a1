//! Alerts: found by the monitor at its own pace, whether a console looks or not.

use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use turbowish_model::alert::{Alert, Detector, Limit, Limits};
use turbowish_model::assemble::Assembly;
use turbowish_model::history::{Totals, Trend, Window};

use super::cost::Uses;
use super::scene::{Scout, Stage};
use super::tasks::{Known, Live};
use super::{Monitor, Registry, resources};
use crate::gather::ThreadNow;
use crate::{clock, own, proc, switch};

/// What is known of what goes wrong.
#[derive(Debug, Default)]
pub(super) struct Watch {
    detector: Detector,
    scout: Scout,
    alerts: Vec<Alert>,
    due: Option<Instant>,
    pub(super) uses: Uses,
}

/// A scan may take this part of a core: with very many tasks there are fewer scans.
const SHARE: u32 = 40;

/// Scans come no faster than this.
const PACE: Duration = Duration::from_millis(200);

impl Monitor {
    pub(super) fn watch(&self) -> MutexGuard<'_, Watch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The alerts that hold, the worst first.
    pub(super) fn alerts(&self) -> Vec<Alert> {
        self.watch().alerts.clone()
    }

    /// Whether there are so many polls that they are to be counted between two ticks, too.
    pub(crate) fn is_dense(&self) -> bool {
        let watch = self.watch();
        let limit = watch.detector.limits().get(Limit::Overload);
        watch.scout.is_dense(limit)
    }

    /// Counts polls between two ticks: a burst may be over at the next one.
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

    /// Sets limits of alert rules, by name and value. Returns a line for each that makes no sense.
    pub(crate) fn limit(&self, settings: &[(String, String)]) -> Vec<String> {
        let mut limits = Limits::default();
        let set = |(name, value): &(String, String)| limits.set(name, value).err();
        let faults = settings.iter().filter_map(set);
        let lines = faults.map(|fault| fault.to_string()).collect();
        *self.watch() = Watch::new(limits);
        lines
    }
}

impl Watch {
    fn new(limits: Limits) -> Self {
        Self {
            detector: Detector::new(limits),
            ..Self::default()
        }
    }

    /// Nothing is known while accounting is off.
    pub(super) fn forget(&mut self) {
        let limits = *self.detector.limits();
        let uses = std::mem::take(&mut self.uses);
        *self = Self {
            uses,
            ..Self::new(limits)
        };
    }

    pub(super) fn scan(
        &mut self,
        monitor: &Monitor,
        totals: &Totals,
        threads: &[ThreadNow],
        epoch: u32,
    ) {
        // Switched off since this was read: what was known is forgotten, and stays so.
        if switch::epoch() != Some(epoch) {
            return;
        }
        let (begun, used) = (Instant::now(), own::used());
        if self.due.is_some_and(|due| begun < due) {
            return;
        }
        let names = Registry(proc::all());
        let (window, trend) = (Window::default(), Trend::default());
        let assembly = Assembly {
            window: &window,
            trend: &trend,
            now: totals,
            names: &names,
            scale: monitor.scale,
        };
        let live = Live::read(threads, epoch, monitor.pauses());
        let known = Known::of(&assembly, &live, threads);
        let resources = resources::all();
        let scene = self.scout.scene(&Stage {
            assembly: &assembly,
            threads,
            live: &live,
            known: &known,
            resources: &resources,
            long_ns: self.detector.limits().get(Limit::LongPoll),
        });
        self.uses.tick(totals.at, self.scout.used());
        self.alerts = self.detector.scan(&scene);
        let took = own::used().saturating_sub(used);
        self.due = Some(begun + PACE.max(took * SHARE));
    }
}

#[cfg(test)]
mod tests {
    use super::Monitor;
    use crate::tests::stage::alone;

    /// What a scan under way finds when accounting was switched off in the meantime would stay until it is switched on again.
    #[test]
    fn a_scan_of_an_epoch_that_is_over_finds_nothing() {
        let _alone = alone();
        let monitor = Monitor::new("test".into());
        let scan = |epoch| {
            let (totals, threads) = monitor.totals();
            monitor.watch().scan(&monitor, &totals, &threads, epoch);
            monitor.watch().due.is_some()
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
}
