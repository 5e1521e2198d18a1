//! Situations played one after the other, and what is said about them.

use std::collections::BTreeSet;

use turbowish_model::diagnose::alert::{Detector, Limits};
use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::pitfall::Pitfall;

use turbowish_testing::situations::{MS, START, SituationBuilder};

/// Wall-clock time at the beginning.
pub(crate) const UNIX: u64 = 1_795_194_271_000_000_000;

/// Time between two situations.
pub(crate) const TICK: u64 = 250;

/// Plays situations for some milliseconds, and returns what changed: `250 + title` for an alert
/// that comes, `500 - id` for one that goes.
pub(crate) struct Play {
    pub(crate) stage: SituationBuilder,
    detector: Detector,
    shown: BTreeSet<(Pitfall, u64)>,
    pub(crate) log: Vec<String>,
    pub(crate) last: Vec<Alert>,
    ms: u64,
    tick: u64,
    /// When the next regular situation is due.
    next: u64,
    /// When there were extra ones.
    pub(crate) extra: Vec<u64>,
}

impl Play {
    pub(crate) fn new(stage: SituationBuilder) -> Self {
        Self::with(Limits::default(), stage)
    }

    pub(crate) fn with(limits: Limits, stage: SituationBuilder) -> Self {
        Self {
            stage,
            detector: Detector::new(limits),
            shown: BTreeSet::new(),
            log: Vec::new(),
            last: Vec::new(),
            ms: 0,
            tick: TICK,
            next: 0,
            extra: Vec::new(),
        }
    }

    /// With a situation every `tick` milliseconds, and those that the detector wants in between.
    pub(crate) fn every(tick: u64, stage: SituationBuilder) -> Self {
        Self {
            tick,
            ..Self::new(stage)
        }
    }

    /// Up to and including `until` milliseconds after the beginning; `change` makes each situation
    /// from the one before.
    pub(crate) fn until(&mut self, until: u64, mut change: impl FnMut(&mut SituationBuilder, u64)) {
        while self.ms <= until {
            change(&mut self.stage, self.ms);
            self.stage.situation.now = START + self.ms * MS;
            self.stage.situation.unix_ns = UNIX + self.ms * MS;
            self.last = if self.ms == self.next {
                self.next += self.tick;
                self.detector.scan(&self.stage.situation)
            } else {
                self.extra.push(self.ms);
                self.detector.scan_extra(&self.stage.situation)
            };
            let mut now = BTreeSet::new();
            for alert in &self.last {
                assert!(!format!("{alert:?}").contains("{task}"), "{alert:?}");
                assert!(!alert.title.contains("{for}"), "{}", alert.title);
                assert!(!alert.why.is_empty(), "{}", alert.title);
                assert!(!alert.summary.is_empty(), "{}", alert.title);
                check_tense(alert);
                let known = !now.insert((alert.pitfall, alert.since));
                if !known && !self.shown.contains(&(alert.pitfall, alert.since)) {
                    self.log.push(format!(
                        "{} + {} {}",
                        self.ms,
                        alert.severity.word(),
                        alert.title
                    ));
                }
            }
            for (pitfall, since) in &self.shown {
                if !now.contains(&(*pitfall, *since)) {
                    self.log.push(format!("{} - {}", self.ms, pitfall.id()));
                }
            }
            self.shown = now;
            // As the monitor does.
            let extra = self.detector.wants_extra().then_some(self.ms + TICK);
            self.ms = extra.unwrap_or(self.next).min(self.next);
        }
        self.past().iter().for_each(check_tense);
    }

    /// The alerts that are over now.
    pub(crate) fn past(&mut self) -> Vec<Alert> {
        self.past_at(START + self.ms * MS)
    }

    pub(crate) fn past_at(&mut self, now: u64) -> Vec<Alert> {
        self.detector.past(now)
    }

    pub(crate) const fn forgotten(&self) -> u64 {
        self.detector.forgotten()
    }

    /// Accounting is disarmed.
    pub(crate) fn stop(&mut self) {
        self.detector.stop();
    }
}

/// What an alert says is in one tense: the present only while the pitfall is seen.
pub(crate) fn check_tense(alert: &Alert) {
    const PRESENT: [&str; 12] = [
        " wait ",
        " waits ",
        " holds ",
        " runs ",
        " does not ",
        " do not ",
        " is not polled ",
        " has not ",
        " have not ",
        " can ",
        " keeps ",
        " grows",
    ];
    let steps = alert.steps.iter().map(|step| &step.how);
    let texts = [&alert.title, &alert.summary, &alert.why];
    for text in texts.into_iter().chain(&alert.fixes).chain(steps) {
        assert!(!text.chars().any(char::is_control), "{text:?}");
    }
    if alert.holds {
        return;
    }
    for text in texts {
        let told = format!(" {text} ");
        let present = PRESENT.iter().find(|word| told.contains(*word));
        assert_eq!(present, None, "{text}");
    }
    let now = alert.fixes.iter().find(|fix| fix.contains(" now"));
    assert_eq!(now, None, "{}", alert.title);
}

/// What is said while the situation that `build` makes stands still for so many milliseconds.
pub(crate) fn check_still(
    build: impl FnOnce(&mut SituationBuilder),
    until: u64,
    expected: &[&str],
) {
    check(build, until, |_, _| (), expected);
}

/// What is said while `change` makes each situation from the one before.
pub(crate) fn check(
    build: impl FnOnce(&mut SituationBuilder),
    until: u64,
    change: impl FnMut(&mut SituationBuilder, u64),
    expected: &[&str],
) {
    let mut stage = SituationBuilder::new();
    build(&mut stage);
    let mut play = Play::new(stage);
    play.until(until, change);
    assert_eq!(play.log, expected);
}
