//! Detector: turns the findings of each scan into alerts that are raised once, keep their identity,
//! and are cleared once.

use alloc::vec::Vec;

use super::finding::{Finding, Key, Scan, Subject};
use super::limits::{Limit, Limits};
use super::memory::Memory;
use super::{fold, rules, table, words};
use crate::diagnose::situation::Situation;
use crate::ordered::{Map, Set};
use crate::snapshot::alert::Alert;
use crate::sorting;

/// Maximum number of findings kept at once; further ones are discarded.
const KEPT: usize = 1_000;

/// Finds pitfalls, situation by situation. Pass the situations of one process in order, at any
/// rate.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    limits: Limits,
    memory: Memory,
    entries: Map<Key, Entry>,
}

/// A finding, and how often it was seen.
#[derive(Clone, Debug)]
struct Entry {
    finding: Finding,
    since: u64,
    scans: u32,
    last: u64,
    raised: bool,
}

impl Detector {
    /// Creates a detector with these thresholds.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Returns the limits that its rules use.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Processes the next situation. Returns the active alerts, worst first.
    pub fn scan(&mut self, situation: &Situation) -> Vec<Alert> {
        let scan = Scan::new(situation, &self.limits, &self.memory);
        let mut found = Vec::new();
        for rule in rules::ALL {
            rule(&scan, &mut found);
        }
        let folded = fold::fold(&mut found, &self.standing());
        self.take(situation.now, found, folded);
        self.memory.record(situation, &self.limits);
        self.alerts(situation.now)
    }

    /// Findings of raised alerts, as long as these are shown.
    fn standing(&self) -> Vec<Finding> {
        let entries = self.entries.values().filter(|entry| entry.raised);
        entries.map(|entry| entry.finding.clone()).collect()
    }

    /// Updates the entries with the findings of a scan and those that were folded.
    fn take(&mut self, now: u64, found: Vec<Finding>, folded: Vec<Finding>) {
        let mut seen = Set::new();
        for finding in found {
            let key = self.adopt(&finding, &seen);
            let key = (finding.alert.pitfall, key);
            if !seen.insert(key.clone()) {
                continue;
            }
            let known = self.entries.remove(&key);
            if known.is_none() && self.entries.len() >= KEPT {
                continue;
            }
            let entry = self.follow(now, known, finding);
            self.entries.insert(key, entry);
        }
        let causes = self
            .entries
            .iter()
            .any(|(key, entry)| entry.raised && fold::is_cause(key.0));
        for finding in folded {
            let key = (finding.alert.pitfall, finding.subjects.clone());
            // A raised finding stays until its cause is raised; it is not raised anew.
            match self.entries.get_mut(&key) {
                Some(entry) if entry.raised && !causes => {
                    entry.last = now;
                    seen.insert(key);
                }
                _ => {
                    self.entries.remove(&key);
                }
            }
        }
        let limits = self.limits;
        self.entries.retain(|key, entry| {
            let row = table::row(key.0);
            let stay = limits.get(if row.lingers {
                Limit::Linger
            } else {
                Limit::Clear
            });
            seen.contains(key) || entry.raised && now.saturating_sub(entry.last) < stay
        });
    }

    /// The subjects under which a finding is already known; for a cycle, those of the earlier cycle
    /// that it shares tasks and resources with.
    fn adopt(&self, finding: &Finding, seen: &Set<Key>) -> Set<Subject> {
        let pitfall = finding.alert.pitfall;
        let key = (pitfall, finding.subjects.clone());
        if !fold::is_cycle(pitfall) || self.entries.contains_key(&key) {
            return key.1;
        }
        let same = self.entries.iter().find(|(other, entry)| {
            other.0 == pitfall
                && !seen.contains(*other)
                && entry
                    .finding
                    .resources
                    .intersection(&finding.resources)
                    .count()
                    > 0
                && other.1.intersection(&key.1).count() > 0
        });
        same.map_or(key.1, |(other, _)| other.1.clone())
    }

    fn follow(&self, now: u64, known: Option<Entry>, mut finding: Finding) -> Entry {
        if let Some(entry) = &known {
            finding.keep_place(&entry.finding);
        }
        let row = table::row(finding.alert.pitfall);
        let began = finding.alert.since.min(now);
        let (since, scans, raised) = match known {
            Some(entry) if entry.raised => (entry.since, entry.scans, true),
            // A pitfall that began after the last sighting is a new one.
            Some(entry) if began <= entry.last || finding.undated => {
                (entry.since, entry.scans.saturating_add(1), false)
            }
            _ => (began, 1, false),
        };
        let held = now.saturating_sub(since);
        let long = row.hold.is_none_or(|hold| held >= self.limits.get(hold));
        Entry {
            finding,
            since,
            scans,
            last: now,
            raised: raised || long && scans >= row.scans,
        }
    }

    fn alerts(&self, now: u64) -> Vec<Alert> {
        let raised = self.entries.iter().filter(|(_, entry)| entry.raised);
        let mut alerts: Vec<Alert> = raised.map(|(_, entry)| entry.alert(now)).collect();
        // Ties are ordered by identity: the entries are in that order, and the sort is stable.
        sorting::by_key(&mut alerts, |alert| {
            (alert.severity, alert.pitfall, alert.since)
        });
        alerts
    }
}

impl Entry {
    fn alert(&self, now: u64) -> Alert {
        let mut alert = self.finding.alert.clone();
        alert.since = self.since;
        alert.holds = self.last == now;
        alert.held_ns = self.last.saturating_sub(self.since);
        // Replaced last: names in a title may contain braces.
        alert.title = alert.title.replace("{for}", &words::time(alert.held_ns));
        alert
    }
}
