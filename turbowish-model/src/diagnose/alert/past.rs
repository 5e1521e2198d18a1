//! Alerts that are over, each as it was at its worst: kept for ten minutes, at most
//! [`PAST_KEPT`] of them.

use alloc::string::String;
use alloc::vec::Vec;

use super::asleep;
use super::finding::{Finding, OngoingPoll};
use super::tense;
use super::words::time;
use crate::diagnose::situation::Situation;
use crate::snapshot::TaskState;
use crate::snapshot::alert::{
    Alert, Occurrence, Party, PartyKind, Point, RECENT_KEPT, Severity, worst_first,
};
use crate::snapshot::pitfall::Pitfall;
use crate::snapshot::units::SECOND;
use crate::sorting;

/// Time for which an alert is kept after its end, in nanoseconds.
pub const PAST_NS: u64 = 600 * SECOND;

/// Maximum number of alerts that are kept after their end.
pub const PAST_KEPT: usize = 50;

/// Maximum number of parties, of steps, and of tasks behind it that each keeps by name.
const NAMED: usize = 64;

/// Alerts that are over. One that comes and goes is one entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Past {
    entries: Vec<PastAlert>,
    /// Entries that had no room, and when the last of them ended.
    forgotten: u64,
    forgotten_at: u64,
}

#[derive(Clone, Debug)]
struct PastAlert {
    sameness: Sameness,
    alert: Alert,
    /// End of the last time.
    last: u64,
}

/// What alerts have in common that are one entry: the pitfall at a place, whichever task or worker
/// it was. Of a poll the place may be unknown.
#[derive(Clone, Debug)]
struct Sameness {
    pitfall: Pitfall,
    at: Option<Point>,
    parties: Vec<Party>,
}

impl Sameness {
    fn of(alert: &Alert) -> Self {
        let at = alert.at.clone();
        let vary = |kind| match kind {
            PartyKind::Task | PartyKind::Worker => true,
            // What a poll holds changes while it lasts.
            PartyKind::Resource => alert.is_in_poll(),
            PartyKind::Proc => false,
        };
        let parties = alert.parties.iter();
        let parties = parties.filter(|party| at.is_none() || !vary(party.kind));
        Self {
            pitfall: alert.pitfall,
            parties: parties.cloned().collect(),
            at,
        }
    }

    fn is(&self, other: &Self) -> bool {
        let place = |at: &Option<Point>| at.as_ref().and_then(|at| at.place.clone());
        let proc = |at: &Option<Point>| at.as_ref().map(|at| at.proc.clone());
        let places = place(&self.at).zip(place(&other.at));
        self.pitfall == other.pitfall
            && self.parties == other.parties
            && proc(&self.at) == proc(&other.at)
            && places.is_none_or(|(one, other)| one == other)
    }
}

impl Past {
    /// Adds an alert that ended at `ended`; `alert` has its beginning and its length.
    pub(super) fn add(&mut self, mut alert: Alert, ended: u64) {
        let end = alert.began_unix_ns.saturating_add(alert.held_ns);
        alert.holds = false;
        alert.times = 1;
        (alert.ended_unix_ns, alert.last_unix_ns) = (Some(end), Some(end));
        alert.recent = Vec::from([Occurrence {
            began_unix_ns: alert.began_unix_ns,
            held_ns: alert.held_ns,
            behind_count: alert.behind_count(),
        }]);
        bound(&mut alert);
        tense::tell(&mut alert);
        let sameness = Sameness::of(&alert);
        let known = self
            .entries
            .iter_mut()
            .find(|entry| entry.sameness.is(&sameness));
        let Some(known) = known else {
            self.entries.push(PastAlert {
                sameness,
                alert,
                last: ended,
            });
            return self.make_room();
        };
        let times = known.alert.times.saturating_add(1);
        let last_unix_ns = known.alert.last_unix_ns.max(alert.last_unix_ns);
        let mut recent = core::mem::take(&mut known.alert.recent);
        recent.append(&mut alert.recent);
        forget_first(&mut recent);
        // One that no scan raised says less.
        let rank = |alert: &Alert| (alert.severity, alert.behind_unknown);
        if rank(&alert) <= rank(&known.alert) {
            (known.alert, known.sameness) = (alert, sameness);
        }
        known.last = known.last.max(ended);
        (known.alert.times, known.alert.last_unix_ns) = (times, last_unix_ns);
        known.alert.recent = recent;
    }

    /// Forgets the least severe entry that ended first, if there are too many.
    fn make_room(&mut self) {
        if self.entries.len() <= PAST_KEPT {
            return;
        }
        let rank = |entry: &PastAlert| (u8::MAX - entry.alert.severity as u8, entry.last);
        let entries = self.entries.iter().enumerate();
        if let Some((least, _)) = entries.min_by_key(|(_, entry)| rank(entry)) {
            let gone = self.entries.remove(least);
            self.forgotten = self.forgotten.saturating_add(1);
            self.forgotten_at = self.forgotten_at.max(gone.last);
        }
    }

    /// Removes what ended more than ten minutes ago.
    pub(super) fn expire(&mut self, now: u64) {
        let recent = |last: u64| now.saturating_sub(last) < PAST_NS;
        self.entries.retain(|entry| recent(entry.last));
        if !recent(self.forgotten_at) {
            self.forgotten = 0;
        }
    }

    /// Adds the earlier times of alerts that are active again.
    pub(super) fn tell_earlier(&self, active: &mut [Alert]) {
        for alert in active {
            if let Some(earlier) = self.again(alert) {
                alert.times = alert.times.saturating_add(earlier.alert.times);
                alert.recent.clone_from(&earlier.alert.recent);
            }
        }
    }

    /// The entry that a new end of this alert would be added to, unless that was more severe: then
    /// the alert does not stand for it.
    fn again(&self, active: &Alert) -> Option<&PastAlert> {
        let sameness = Sameness::of(active);
        let mut entries = self.entries.iter();
        let same = entries.find(|entry| entry.sameness.is(&sameness))?;
        (active.severity <= same.alert.severity).then_some(same)
    }

    /// The entries in the table's own order, without those that are `active` again.
    pub(super) fn alerts(&self, active: &[Alert]) -> Vec<Alert> {
        let again = active.iter().filter_map(|alert| self.again(alert));
        let again: Vec<&Sameness> = again.map(|entry| &entry.sameness).collect();
        let is_again = |entry: &PastAlert| again.iter().any(|same| same.is(&entry.sameness));
        let entries = self.entries.iter().filter(|entry| !is_again(entry));
        let mut alerts: Vec<Alert> = entries.map(|entry| entry.alert.clone()).collect();
        sorting::by_key(&mut alerts, worst_first);
        alerts
    }

    /// Number of alerts of the last ten minutes for which there was no room.
    pub(super) const fn forgotten(&self) -> u64 {
        self.forgotten
    }
}

/// Removes the first of too many times, unless it is the longest: then the second.
fn forget_first(recent: &mut Vec<Occurrence>) {
    if recent.len() > RECENT_KEPT {
        let rest = recent.iter().skip(1).map(|time| time.held_ns);
        let is_longest = rest.max().is_some_and(|held| recent[0].held_ns > held);
        recent.remove(usize::from(is_longest));
    }
}

/// Bounds the lists of an alert.
fn bound(alert: &mut Alert) {
    alert.parties.truncate(NAMED);
    alert.steps.truncate(NAMED);
    let more = alert.behind.tasks.len().saturating_sub(NAMED) as u64;
    alert.behind.tasks.truncate(NAMED);
    alert.behind.unlisted = alert.behind.unlisted.saturating_add(more);
}

/// An alert about a poll that no scan raised while it lasted, with its whole length.
pub(super) fn of_unseen(finding: &Finding, until: u64, situation: &Situation) -> Alert {
    let peak = Peak {
        ended: Some(until),
        ..Peak::new(finding, until)
    };
    let since = finding.alert.since;
    Alert {
        title: peak.title(),
        held_ns: until.saturating_sub(since),
        began_unix_ns: wall_clock(situation, since),
        ..peak.finding.alert
    }
}

/// A raised alert at its worst: the most severe sighting; of polls in progress the longest, else
/// the one that most tasks waited behind.
#[derive(Clone, Debug)]
pub(super) struct Peak {
    pub(super) finding: Finding,
    pub(super) at: u64,
    /// End of its poll, once it is known.
    pub(super) ended: Option<u64>,
}

impl Peak {
    pub(super) fn new(finding: &Finding, at: u64) -> Self {
        Self {
            finding: finding.clone(),
            at,
            ended: None,
        }
    }

    /// Replaces it if a later sighting is at least as bad.
    pub(super) fn raise(&mut self, finding: &Finding, at: u64) {
        let rank = |finding: &Finding, at: u64| {
            let poll = finding.poll.as_ref();
            let age = poll.map(|poll| at.saturating_sub(poll.since));
            let severity: Severity = finding.alert.severity;
            (
                u8::MAX - severity as u8,
                age.unwrap_or(0),
                finding.alert.behind_count(),
            )
        };
        if rank(finding, at) >= rank(&self.finding, self.at) {
            let before = core::mem::replace(self, Self::new(finding, at)).finding;
            let is_same = before.poll.is_some() && before.poll == self.finding.poll;
            let (alert, before) = (&mut self.finding.alert, before.alert);
            // A lock that is let go while the situation is read has no waiters or no holder any
            // more, though its poll is still in progress.
            let is_less = before.behind_count() > alert.behind_count();
            if is_same && (is_less || before.parties.len() > alert.parties.len()) {
                (alert.parties, alert.why) = (before.parties, before.why);
                alert.fixes = before.fixes;
            }
            if is_less {
                alert.behind = before.behind;
            }
            if is_same {
                alert.unpolled_ns = alert.unpolled_ns.max(before.unpolled_ns);
            }
        }
    }

    /// Looks whether its poll has ended since it was seen last, and when.
    pub(super) fn find_end(&mut self, situation: &Situation) {
        let Some(poll) = &self.finding.poll else {
            return;
        };
        if self.at >= situation.now {
            return;
        }
        if self.ended.is_none() {
            self.ended = ended(situation, poll, self.at);
        }
        if !self.finding.asleep.is_empty() && !is_open(situation, poll) {
            let asleep = core::mem::take(&mut self.finding.asleep);
            let ended = self.ended.unwrap_or(self.at);
            let woken = asleep::woken(&asleep, situation, poll.since, ended);
            self.finding.alert.behind.waits.extend(woken);
        }
    }

    /// The title: with the length of its poll, if that is known, and not only a lower bound of it.
    pub(super) fn title(&self) -> String {
        let title = &self.finding.alert.title;
        match (&self.finding.poll, self.ended) {
            (Some(poll), Some(ended)) => {
                let seen = alloc::format!("{}+", time(self.at.saturating_sub(poll.since)));
                title.replacen(&seen, &time(ended.saturating_sub(poll.since)), 1)
            }
            _ => title.clone(),
        }
    }
}

/// Whether a poll is in progress.
fn is_open(situation: &Situation, poll: &OngoingPoll) -> bool {
    let workers = situation.workers.iter();
    let mut open = workers.filter_map(|worker| worker.poll.as_ref());
    let task = poll.task.map(|(id, _)| id);
    open.any(|open| open.since == poll.since && open.task == task)
}

/// When a poll ended that was in progress at `seen`: its worker tells, its task waits since then,
/// or its outermost proc has a finished poll of a length that fits.
fn ended(situation: &Situation, poll: &OngoingPoll, seen: u64) -> Option<u64> {
    if is_open(situation, poll) {
        return None;
    }
    let of_worker = situation.workers.iter().flat_map(|worker| {
        let ended = worker.ended_polls.iter();
        ended.map(move |ended| (worker.id, (ended.since, ended.until)))
    });
    let mut of_worker = of_worker.filter(|&(worker, ended)| poll.is(worker, ended, seen));
    if let Some((_, (_, until))) = of_worker.next() {
        return Some(until.max(seen));
    }
    if let Some((id, polls)) = poll.task {
        let mut tasks = situation.tasks.iter();
        let is = |task: &&crate::diagnose::situation::Task| {
            task.id == id && task.polls == polls && task.state == TaskState::Waiting
        };
        // It began no other poll. The poll may have ended while that situation was read.
        if let Some(task) = tasks.find(is).filter(|task| task.since >= poll.since) {
            return Some(task.since.max(seen));
        }
    }
    let (root, began) = poll.root.as_ref()?;
    let proc = situation.procs.iter().find(|proc| proc.path == *root)?;
    let end = began.saturating_add(proc.longest_ns);
    (seen..=situation.now).contains(&end).then_some(end)
}

/// An instant on the wall clock; 0 if it is unknown.
pub(super) const fn wall_clock(situation: &Situation, instant: u64) -> u64 {
    situation
        .unix_ns
        .saturating_sub(situation.now.saturating_sub(instant))
}
