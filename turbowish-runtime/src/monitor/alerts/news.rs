//! News for the recording: alerts that were raised, and alerts that are over.

use turbowish_model::snapshot::alert::{Alert, Severity};

use crate::hot::clock;
use crate::server::News;

/// Maximum number of news that are kept: more come only if nobody takes them.
const KEPT: usize = 64;

/// What was not taken yet, the oldest first.
#[derive(Debug, Default)]
pub(super) struct AlertNews(Vec<News>);

impl AlertNews {
    /// Adds what two successive scans differ in.
    pub(super) fn compare(&mut self, before: &[Alert], after: &[Alert]) {
        for alert in without(before, after) {
            self.add(format!("over: {}", alert.title), None);
        }
        for alert in without(after, before) {
            let text = format!("{}: {}", alert.severity.word(), alert.title);
            self.add(text, Some(alert.severity));
        }
    }

    /// Adds alerts that were over before any scan saw them.
    pub(super) fn told_late(&mut self, alerts: &[Alert]) {
        for alert in alerts {
            let text = format!("{}: {}", alert.severity.word(), alert.title);
            self.add(text, Some(alert.severity));
            self.add(format!("over: {}", alert.title), None);
        }
    }

    fn add(&mut self, text: String, raised: Option<Severity>) {
        if self.0.len() < KEPT {
            self.0.push(News {
                at_unix_ns: clock::unix_ns(),
                text,
                raised,
            });
        }
    }

    pub(super) fn take(&mut self) -> Vec<News> {
        std::mem::take(&mut self.0)
    }
}

/// The alerts that are not among others. An alert has the same pitfall and the same beginning in
/// every scan. If several share both, those with the same parties belong together.
fn without<'a>(alerts: &'a [Alert], others: &[Alert]) -> Vec<&'a Alert> {
    let mut left: Vec<&Alert> = alerts.iter().collect();
    let mut others: Vec<&Alert> = others.iter().collect();
    let is_same =
        |one: &Alert, other: &Alert| (one.pitfall, one.since) == (other.pitfall, other.since);
    let is_equal = |one: &Alert, other: &Alert| is_same(one, other) && one.parties == other.parties;
    for belong in [&is_equal as &dyn Fn(&Alert, &Alert) -> bool, &is_same] {
        left.retain(|alert| {
            let found = others.iter().position(|other| belong(alert, other));
            found.map(|at| others.swap_remove(at)).is_none()
        });
    }
    left
}

#[cfg(test)]
mod tests {
    use turbowish_model::snapshot::alert::{Alert, Party, PartyKind, Severity};
    use turbowish_model::snapshot::pitfall::Pitfall;

    use super::{AlertNews, KEPT};

    fn alert(pitfall: Pitfall, since: u64, title: &str) -> Alert {
        let party = Party {
            kind: PartyKind::Worker,
            id: 0,
            name: title.chars().take(17).collect(),
        };
        Alert {
            pitfall,
            since,
            title: title.to_owned(),
            parties: vec![party],
            severity: Severity::Warning,
            ..Alert::default()
        }
    }

    #[test]
    fn an_alert_is_news_when_it_is_raised_and_when_it_is_over() {
        let worker = |title| alert(Pitfall::BlockedWorker, 7, title);
        let other = || alert(Pitfall::BlockedWorker, 7, "blocked worker w1 1.00 s");
        let leak = || alert(Pitfall::TaskLeak, 7, "task leak");
        let mut news = AlertNews::default();
        let scans = [
            vec![],
            vec![worker("blocked worker w0 1.00 s")],
            // It is the same one.
            vec![worker("blocked worker w0 1.25 s")],
            vec![other(), worker("blocked worker w0 1.50 s"), leak()],
            vec![worker("blocked worker w0 1.75 s"), leak()],
            vec![],
        ];
        let mut told = Vec::new();
        for pair in scans.windows(2) {
            news.compare(&pair[0], &pair[1]);
            told.push(
                news.take()
                    .into_iter()
                    .map(|news| news.text)
                    .collect::<Vec<_>>()
                    .join(", "),
            );
        }
        assert_eq!(
            told,
            [
                "warning: blocked worker w0 1.00 s",
                "",
                "warning: blocked worker w1 1.00 s, warning: task leak",
                "over: blocked worker w1 1.00 s",
                "over: blocked worker w0 1.75 s, over: task leak",
            ]
        );
    }

    #[test]
    fn news_that_nobody_takes_are_bounded() {
        let mut news = AlertNews::default();
        for since in 0..1_000 {
            news.compare(&[], &[alert(Pitfall::TaskLeak, since, "task leak")]);
        }
        assert_eq!(news.take().len(), KEPT);
        assert!(news.take().is_empty());
    }
}
