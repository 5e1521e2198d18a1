//! Detector: turns the findings of each scan into alerts that are raised once, keep their identity,
//! and are cleared once.

use alloc::vec::Vec;

use super::finding::{Finding, Key, Scan, Subject};
use super::limits::{Limit, Limits};
use super::memory::Memory;
use super::past::{Past, Peak, of_unseen, wall_clock};
use super::{fold, rules, table, tense};
use crate::diagnose::situation::Situation;
use crate::ordered::{Map, Set};
use crate::snapshot::alert::Alert;
use crate::snapshot::pitfall::Pitfall;
use crate::sorting;

/// Maximum number of findings kept at once; further ones are discarded.
const KEPT: usize = 1_000;

/// Time after which an extra scan is expected, in nanoseconds.
const SOON: u64 = 250_000_000;

/// Finds pitfalls, situation by situation. Pass the situations of one process in order, at any
/// rate.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    limits: Limits,
    memory: Memory,
    entries: Map<Key, Entry>,
    past: Past,
    /// Alerts that the last scan found over, and no scan before had raised.
    unseen: Vec<Alert>,
    wants_extra: bool,
}

/// A finding, and how often it was seen.
#[derive(Clone, Debug)]
struct Entry {
    finding: Finding,
    since: u64,
    scans: u32,
    last: u64,
    raised: bool,
    /// Its worst sighting since it was raised.
    peak: Option<Peak>,
    began_unix_ns: u64,
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
        self.scan_as(situation, false)
    }

    /// The same for a situation between two regular ones. It is one sighting more of what it finds,
    /// but says nothing against what it does not find: the time since the last one is short.
    pub fn scan_extra(&mut self, situation: &Situation) -> Vec<Alert> {
        self.scan_as(situation, true)
    }

    fn scan_as(&mut self, situation: &Situation, is_extra: bool) -> Vec<Alert> {
        self.memory.count_preempted(situation, &self.limits);
        let scan = Scan::new(situation, &self.limits, &self.memory);
        let mut found = Vec::new();
        for rule in rules::ALL {
            rule(&scan, &mut found);
        }
        let ended = rules::ended_polls::ended_polls(&scan);
        let folded = fold::fold(&mut found, &self.standing());
        let unseen = self.unseen(situation, ended);
        self.wants_extra = false;
        self.take(situation, found, folded, is_extra);
        self.unseen.clear();
        for (mut alert, until) in unseen {
            self.past.add(alert.clone(), until);
            tense::tell(&mut alert);
            self.unseen.push(alert);
        }
        self.past.expire(situation.now);
        self.memory.record(situation, &self.limits, is_extra);
        self.alerts(situation.now)
    }

    /// Whether an extra scan should come soon: the last one was regular, and has found something
    /// for the first time that is an alert only if it is seen twice, and may be over at the next.
    #[must_use]
    pub const fn wants_extra(&self) -> bool {
        self.wants_extra
    }

    /// The alerts about polls that ended before the last scan, and that no scan had raised.
    #[must_use]
    pub fn told_late(&self) -> &[Alert] {
        &self.unseen
    }

    /// Paths of procs of which more and more tasks live: the next situation should have some of
    /// them, although they might be omitted.
    pub fn growing(&self) -> impl Iterator<Item = &str> {
        let roots = self.memory.roots.iter();
        let windows = self.limits.get(Limit::TaskLeakWindows);
        let growing =
            roots.filter(move |(_, growth)| growth.windows() >= windows.div_ceil(2).max(1));
        growing.map(|(path, _)| path.as_str())
    }

    /// The alerts that are over at an instant not before the last scan, in the table's own order.
    /// One that is active again is not among them: the active alert counts its times.
    pub fn past(&mut self, now: u64) -> Vec<Alert> {
        self.past.expire(now);
        let raised = self.entries.values().filter(|entry| entry.raised);
        let active: Vec<Alert> = raised.map(|entry| entry.finding.alert.clone()).collect();
        self.past.alerts(&active)
    }

    /// Number of alerts of the last ten minutes that are over and had no room.
    #[must_use]
    pub const fn forgotten(&self) -> u64 {
        self.past.forgotten()
    }

    /// Discards all state except limits and alerts that are over: nothing is known from here on.
    /// An alert that was gone in the last scan is over; whether another one is remains unknown.
    pub fn stop(&mut self) {
        let before = self.memory.before;
        let entries = core::mem::take(&mut self.entries);
        for entry in entries.into_values() {
            if entry.raised && before.is_some_and(|before| entry.last < before) {
                self.past.add(entry.past_alert(), entry.ended());
            }
        }
        *self = Self {
            past: core::mem::take(&mut self.past),
            ..Self::new(self.limits)
        };
    }

    /// Alerts about the polls that ended since the last scan, and when each ended: of those of
    /// which no alert is active. A poll that was seen when it was a long poll is one trouble: that
    /// alert goes.
    fn unseen(&mut self, situation: &Situation, ended: Vec<Finding>) -> Vec<(Alert, u64)> {
        let mut unseen = Vec::new();
        for mut finding in ended {
            let (Some(poll), Some(until)) = (finding.poll.clone(), finding.until) else {
                continue;
            };
            let polled = (poll.worker, (poll.since, until));
            let raised = self.entries.iter().filter(|(_, entry)| entry.raised);
            // An outer poll may run an executor: each poll in it is an alert of its own.
            let is_outer = |entry: &Entry| {
                entry
                    .finding
                    .poll
                    .as_ref()
                    .is_some_and(|it| it.is_around(&poll, situation))
            };
            let mut about = raised.filter(|(_, entry)| entry.is_about(polled) && !is_outer(entry));
            let key = about.next().map(|(key, _)| key.clone());
            let is_held = |key: &Key| fold::is_held_worker(key.0);
            if key.as_ref().is_some_and(is_held) {
                continue;
            }
            let known = key.and_then(|key| self.entries.remove(&key));
            if let Some(known) = &known {
                finding.keep_point(&known.finding);
            }
            let mut alert = of_unseen(&finding, until, situation);
            if let Some(known) = known {
                alert.began_unix_ns = known.began_unix_ns;
            }
            unseen.push((alert, until));
        }
        unseen
    }

    /// Findings of raised alerts, as long as these are shown.
    fn standing(&self) -> Vec<Finding> {
        let entries = self.entries.values().filter(|entry| entry.raised);
        entries.map(|entry| entry.finding.clone()).collect()
    }

    /// Worker and start of each poll of which an alert is active, and its start on the wall clock.
    fn long_polls_begun(&self) -> Vec<(u64, u64, u64)> {
        let raised = self.entries.values().filter(|entry| entry.raised);
        let begun = raised.filter_map(|entry| {
            let poll = entry.finding.poll.as_ref()?;
            Some((poll.worker, poll.since, entry.began_unix_ns))
        });
        begun.collect()
    }

    /// Updates the entries with the findings of a scan and those that were folded.
    fn take(
        &mut self,
        situation: &Situation,
        found: Vec<Finding>,
        folded: Vec<Finding>,
        is_extra: bool,
    ) {
        let now = situation.now;
        let mut seen = Set::new();
        let begun = self.long_polls_begun();
        for finding in found {
            let key = self.adopt(&finding, &seen);
            let key = (finding.alert.pitfall, key);
            if !seen.insert(key.clone()) {
                continue;
            }
            let known = self.known(situation, &key, &finding);
            if known.is_none() && self.entries.len() >= KEPT {
                continue;
            }
            let is_new = known.is_none();
            let mut entry = self.follow(situation, known, finding);
            // The same poll, at the same instant of the wall clock.
            if let Some(poll) = entry.finding.poll.as_ref().filter(|_| is_new) {
                let begun = begun
                    .iter()
                    .find(|(worker, since, _)| (*worker, *since) == (poll.worker, poll.since));
                entry.began_unix_ns = begun.map_or(entry.began_unix_ns, |(_, _, unix)| *unix);
            }
            let is_first = entry.scans == 1 && !entry.raised;
            let soon = now.saturating_add(SOON);
            self.wants_extra |= !is_extra && is_first && self.is_long(key.0, entry.since, soon);
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
        self.clear(situation, &seen, is_extra);
    }

    /// Takes the entry of a finding. A worker that is held by another poll than before is another
    /// trouble: the one before is over.
    fn known(&mut self, situation: &Situation, key: &Key, finding: &Finding) -> Option<Entry> {
        let mut known = self.entries.remove(key)?;
        let polls = known.finding.poll.as_ref().zip(finding.poll.as_ref());
        let is_another = polls.is_some_and(|(before, now)| before.since != now.since);
        if !(known.raised && is_another && fold::is_held_worker(key.0)) {
            return Some(known);
        }
        if let Some(peak) = &mut known.peak {
            peak.find_end(situation);
        }
        self.past.add(known.past_alert(), known.ended());
        None
    }

    /// Removes the entries that are gone. Those that were raised are over.
    fn clear(&mut self, situation: &Situation, seen: &Set<Key>, is_extra: bool) {
        let (now, limits, past) = (situation.now, self.limits, &mut self.past);
        self.entries.retain(|key, entry| {
            if let Some(peak) = &mut entry.peak {
                peak.find_end(situation);
            }
            let row = table::row(key.0);
            let stay = limits.get(if row.lingers {
                Limit::Linger
            } else {
                Limit::Clear
            });
            let stays = seen.contains(key)
                || match entry.raised {
                    true => now.saturating_sub(entry.last) < stay,
                    false => is_extra,
                };
            if !stays && entry.raised {
                past.add(entry.past_alert(), entry.ended());
            }
            stays
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

    fn follow(
        &self,
        situation: &Situation,
        mut known: Option<Entry>,
        mut finding: Finding,
    ) -> Entry {
        let now = situation.now;
        if let Some(entry) = &known {
            finding.keep_place(&entry.finding);
        }
        let pitfall = finding.alert.pitfall;
        let began = finding.alert.since.min(now);
        let peak = known.as_mut().and_then(|entry| entry.peak.take());
        let begun = known
            .as_ref()
            .map(|entry| (entry.since, entry.began_unix_ns));
        let (since, scans, raised) = match known {
            Some(entry) if entry.raised => (entry.since, entry.scans, true),
            // A pitfall that began after the last sighting is a new one.
            Some(entry) if began <= entry.last || finding.undated => {
                (entry.since, entry.scans.saturating_add(1), false)
            }
            _ => (began, 1, false),
        };
        let is_often = scans >= table::row(pitfall).scans;
        let raised = raised || is_often && self.is_long(pitfall, since, now);
        let peak = raised.then(|| match peak {
            None => Peak::new(&finding, now),
            Some(mut peak) => {
                peak.raise(&finding, now);
                peak
            }
        });
        let begun = begun.filter(|(known, _)| *known == since);
        Entry {
            finding,
            since,
            scans,
            last: now,
            raised,
            peak,
            began_unix_ns: begun.map_or_else(|| wall_clock(situation, since), |(_, unix)| unix),
        }
    }

    /// Whether a pitfall has been present for long enough.
    fn is_long(&self, pitfall: Pitfall, since: u64, now: u64) -> bool {
        let hold = table::row(pitfall).hold;
        hold.is_none_or(|hold| now.saturating_sub(since) >= self.limits.get(hold))
    }

    fn alerts(&self, now: u64) -> Vec<Alert> {
        let raised = self.entries.iter().filter(|(_, entry)| entry.raised);
        let mut alerts: Vec<Alert> = raised.map(|(_, entry)| entry.alert(now)).collect();
        alerts.iter_mut().for_each(tense::tell);
        self.past.tell_earlier(&mut alerts);
        // Ties are ordered by identity: the entries are in that order, and the sort is stable.
        sorting::by_key(&mut alerts, |alert| {
            (alert.severity, alert.pitfall, alert.since)
        });
        alerts
    }
}

impl Entry {
    /// Whether it is about a poll of a worker that began and ended then.
    fn is_about(&self, (worker, ended): (u64, (u64, u64))) -> bool {
        match &self.finding.poll {
            Some(poll) => poll.is(worker, ended, self.last),
            // All workers, or unknown code.
            None => {
                let is_held = fold::is_held_worker(self.finding.alert.pitfall);
                is_held && ended.0 <= self.last && ended.1 > self.since
            }
        }
    }

    /// The alert, with its texts in both tenses.
    fn alert(&self, now: u64) -> Alert {
        let mut alert = self.finding.alert.clone();
        alert.since = self.since;
        alert.began_unix_ns = self.began_unix_ns;
        alert.times = 1;
        alert.holds = self.last == now;
        alert.held_ns = self.last.saturating_sub(self.since);
        alert
    }

    /// When it ended: at the end of the poll that it was about, else when it was seen last.
    fn ended(&self) -> u64 {
        let peak = self.peak.as_ref().filter(|peak| peak.at == self.last);
        peak.and_then(|peak| peak.ended).unwrap_or(self.last)
    }

    /// The alert at its worst, with its whole length, and its texts in both tenses.
    fn past_alert(&self) -> Alert {
        let mut alert = self.alert(self.last);
        alert.held_ns = self.ended().saturating_sub(self.since);
        if let Some(peak) = &self.peak {
            alert = Alert {
                since: alert.since,
                began_unix_ns: alert.began_unix_ns,
                held_ns: alert.held_ns,
                title: peak.title(),
                ..peak.finding.alert.clone()
            };
        }
        alert
    }
}
