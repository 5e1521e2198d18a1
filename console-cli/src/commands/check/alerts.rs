//! The condition that no alert of the selected kinds and severities is active.

use std::collections::BTreeMap;

use turbowish_model::snapshot::Snapshot;
use turbowish_model::snapshot::alert::{Alert, Severity};
use turbowish_model::snapshot::pitfall::Pitfall;

use crate::args::CheckArgs;

/// The selected alerts, and those that were seen.
pub(super) struct NoAlerts {
    /// Alerts of a lower severity do not count.
    least: Severity,
    only: Vec<Pitfall>,
    except: Vec<Pitfall>,
    /// Each alert once, however often it was seen: by severity, start time and kind.
    pub(super) seen: BTreeMap<(Severity, u64, Pitfall), Alert>,
}

impl NoAlerts {
    /// The check that the command line requests; `alone` if nothing else is checked.
    pub(super) fn of(args: &CheckArgs, alone: bool) -> Option<Self> {
        let said = args.no_alerts.is_some() || !args.alert.is_empty() || !args.except.is_empty();
        (alone || said).then(|| Self {
            least: args.no_alerts.map_or(Severity::Note, Into::into),
            only: args.alert.clone(),
            except: args.except.clone(),
            seen: BTreeMap::new(),
        })
    }

    /// Alerts that are over do not count: they may be older than the check.
    fn counts(&self, alert: &Alert) -> bool {
        // The highest severity is the smallest value.
        !alert.is_over()
            && alert.severity <= self.least
            && (self.only.is_empty() || self.only.contains(&alert.pitfall))
            && !self.except.contains(&alert.pitfall)
    }

    pub(super) fn look(&mut self, snapshot: &Snapshot) {
        for alert in &snapshot.alerts.rows {
            if self.counts(alert) {
                let key = (alert.severity, alert.since, alert.pitfall);
                self.seen.insert(key, alert.clone());
            }
        }
    }

    /// The condition in words.
    pub(super) fn text(&self) -> String {
        let titles = |pitfalls: &[Pitfall]| {
            let titles: Vec<&str> = pitfalls.iter().map(|each| each.title()).collect();
            titles.join(", ")
        };
        let mut text = match &self.only[..] {
            [] => "no alerts".to_owned(),
            only => format!("no {}", titles(only)),
        };
        text += match self.least {
            Severity::Note => "",
            Severity::Warning => ", notes allowed",
            Severity::Alert => ", warnings allowed",
        };
        if !self.except.is_empty() {
            let comma = if self.least == Severity::Note {
                ""
            } else {
                ","
            };
            text += &format!("{comma} except {}", titles(&self.except));
        }
        text
    }
}
