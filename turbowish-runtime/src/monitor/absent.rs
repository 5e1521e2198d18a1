//! The monitor without the feature `server`: it has no thread, so no console can attach, and there
//! are no alerts and no pauses.

use std::sync::Arc;

use turbowish_model::account::task::Pause;
use turbowish_model::collect::assemble::{Assembly, Names};
use turbowish_model::collect::history::Totals;
use turbowish_model::ordered::Map;
use turbowish_model::snapshot::AwaitRow;
use turbowish_model::snapshot::alert::Alert;

use super::collector::ThreadNow;
use super::{Monitor, cost};
use crate::log::say;
use crate::resource::{self, Record};
use crate::settings::{RecordIn, Report, Settings};

/// State of the monitor's thread: none.
#[derive(Debug, Default)]
pub(super) struct MonitorThread(());

/// Starts nothing, and says what is missing.
pub(crate) fn start(_: &Arc<Monitor>, settings: &Settings) {
    if matches!(settings.record.to, RecordIn::File(_)) {
        say("not recording: this program was built without the feature `server` of turbowish");
    }
    if settings.listen.is_some() {
        say("not listening: this program was built without the feature `server` of turbowish");
    } else if settings.report == Report::None {
        say(
            "no console can attach: this program was built without the feature `server` of \
             turbowish; TURBOWISH_REPORT=1 prints a report at the end",
        );
    }
}

/// Nothing was started.
pub(crate) const fn stop(_: &Monitor) {}

impl Monitor {
    pub(super) const fn look_for_alerts(&self, _: &Totals, _: &[ThreadNow], _: u32) {}

    pub(super) const fn end_pauses_and_alerts(&self) {}

    /// Alerts: there are none.
    pub(super) const fn begin_alerts_anew(&self) {}

    /// Paused tasks: there are none.
    pub(super) fn pauses(&self) -> Map<u64, Pause> {
        Map::new()
    }

    /// Alerts: there are none.
    pub(super) const fn alerts(&self) -> (Vec<Alert>, u64) {
        (Vec::new(), 0)
    }

    /// The rows of await points: nothing has looked for idle waits.
    pub(super) fn awaits<N: Names>(
        &self,
        assembly: &Assembly<'_, N>,
        name: &dyn Fn(u64) -> Option<String>,
    ) -> Vec<AwaitRow> {
        assembly.awaits(&|_, _| None, name)
    }

    /// Tasks of the application's runtimes that are the heartbeat: there is none.
    pub(super) const fn heartbeat_tasks(&self) -> u64 {
        0
    }

    /// There is no monitor thread.
    pub(super) const fn monitor_ppm<N: Names>(&self, _: &Assembly<'_, N>, _: u64) -> Option<u64> {
        None
    }

    /// Uses of resources that still exist.
    pub(super) fn uses<N: Names>(&self, assembly: &Assembly<'_, N>) -> u64 {
        if !assembly.window.since_start {
            return 0;
        }
        let uses = |record: &Arc<Record>| cost::uses(&record.read());
        resource::all()
            .iter()
            .map(uses)
            .fold(0, u64::saturating_add)
    }
}
