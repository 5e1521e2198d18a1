//! Muted alerts. Only this console knows of them, and only while it runs.

use turbowish_model::snapshot::alert::{Alert, Party, Severity};
use turbowish_model::snapshot::pitfall::Pitfall;
use turbowish_model::snapshot::units::{self, Micro, SECOND};

use crate::detail::rich_line::Link;

/// Duration of a mute.
pub(crate) const MUTE_NS: u64 = 600 * SECOND;

/// An alert that is muted.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mute {
    link: Link,
    pitfall: Pitfall,
    parties: Vec<Party>,
    severity: Severity,
    /// On the console's clock.
    until_ns: u64,
}

impl Mute {
    /// Whether it is the same alert, or the same problem again after a short absence.
    fn is(&self, alert: &Alert) -> bool {
        let again = self.pitfall == alert.pitfall && self.parties == alert.parties;
        again || self.link == Link::alert(alert)
    }
}

/// The muted alerts of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mutes(Vec<Mute>);

impl Mutes {
    /// Whether nothing is muted.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Remaining time of an alert's mute in nanoseconds; `None` if it is not muted.
    pub(crate) fn left(&self, alert: &Alert, now_ns: u64) -> Option<u64> {
        let mute = self.0.iter().find(|mute| mute.is(alert))?;
        let left = mute.until_ns.checked_sub(now_ns)?;
        (left > 0 && alert.severity >= mute.severity).then_some(left)
    }

    /// Mutes an alert from now on.
    pub(crate) fn mute(&mut self, alert: &Alert, now_ns: u64) {
        self.unmute(alert);
        self.0.push(Mute {
            link: Link::alert(alert),
            pitfall: alert.pitfall,
            parties: alert.parties.clone(),
            severity: alert.severity,
            until_ns: now_ns.saturating_add(MUTE_NS),
        });
    }

    /// Unmutes an alert.
    pub(crate) fn unmute(&mut self, alert: &Alert) {
        self.0.retain(|mute| !mute.is(alert));
    }

    /// Removes expired mutes, and those of alerts that have become worse; returns whether any was
    /// removed.
    pub(crate) fn prune(&mut self, alerts: &[Alert], now_ns: u64) -> bool {
        let before = self.0.len();
        self.0.retain(|mute| {
            let worse = |alert: &Alert| mute.is(alert) && alert.severity < mute.severity;
            mute.until_ns > now_ns && !alerts.iter().any(worse)
        });
        self.0.len() < before
    }
}

/// `muted 9m40s`
pub(crate) fn word(left_ns: u64) -> String {
    // Whole seconds, because it is updated once a second.
    let left = left_ns.div_ceil(SECOND) * SECOND;
    format!("muted {}", units::window(left, Micro::Ascii))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alert(severity: Severity, since: u64) -> Alert {
        Alert {
            severity,
            since,
            ..Alert::default()
        }
    }

    #[test]
    fn an_alert_is_muted_for_ten_minutes_or_until_it_is_worse() {
        let mut mutes = Mutes::default();
        let warning = alert(Severity::Warning, 5);
        mutes.mute(&warning, SECOND);
        assert_eq!(mutes.left(&warning, SECOND), Some(MUTE_NS));
        assert_eq!(mutes.left(&warning, MUTE_NS), Some(SECOND));
        assert_eq!(mutes.left(&warning, MUTE_NS + SECOND), None);
        // The same problem, resolved and raised again.
        assert!(mutes.left(&alert(Severity::Note, 9), 2 * SECOND).is_some());
        let worse = alert(Severity::Alert, 5);
        assert_eq!(mutes.left(&worse, 2 * SECOND), None);
        assert!(!mutes.prune(std::slice::from_ref(&warning), MUTE_NS));
        assert!(mutes.clone().prune(&[], MUTE_NS + SECOND));
        assert!(mutes.prune(&[worse], 2 * SECOND));
        assert_eq!(mutes.left(&warning, 2 * SECOND), None);
    }

    #[test]
    fn an_alert_with_others_in_it_is_another_one() {
        let mut mutes = Mutes::default();
        mutes.mute(&alert(Severity::Warning, 5), 0);
        let other = Alert {
            parties: vec![Party {
                kind: turbowish_model::snapshot::alert::PartyKind::Task,
                id: 7,
                name: "conn".to_owned(),
            }],
            ..alert(Severity::Warning, 9)
        };
        assert_eq!(mutes.left(&other, 1), None);
    }

    #[test]
    fn the_word_has_whole_seconds() {
        let check = |ns, expected| assert_eq!(word(ns), expected);
        check(MUTE_NS, "muted 10m00s");
        check(MUTE_NS - SECOND * 20, "muted 9m40s");
        check(SECOND / 2, "muted 1 s");
    }
}
