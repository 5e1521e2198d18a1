//! Alerts as rows of a snapshot: a pitfall that is present now, or was a short time ago; its
//! reason, and what to do about it.

mod columns;

use alloc::string::String;
use alloc::vec::Vec;

pub use self::columns::{Involved, headline, severity_counts, worst, worst_first};
use super::Place;
use super::json::{FieldValue, Spelled as _, put};
use super::pitfall::Pitfall;
use super::row::row;
use super::units::{self, Micro};

/// Severity of an alert.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something does not work and will not recover without help.
    #[default]
    Alert,
    /// Something has a cost, or will have one.
    Warning,
    /// Informational.
    Note,
}

impl Severity {
    /// The word used in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Alert => "alert",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

row! {
    $ alert_row

    /// A pitfall that is present now, or was: an alert that is over stays for ten minutes.
    Alert {
        /// Kind of pitfall.
        pitfall: Pitfall [first] as kind;
        /// Severity of this alert.
        severity: Severity [min];
        /// A sentence that names the pitfall, the parties and the extent.
        title: String [first];
        /// The pitfall in a few words.
        summary: String [first];
        /// Time for which the pitfall was seen; does not grow while it is not seen.
        held_ns: u64 [max] as since_ns;
        /// Instant since which the pitfall is present, in nanoseconds of the process's clock; the
        /// same in every scan.
        since: u64 [min] as began_ns;
        /// The last scan saw the pitfall. If `false`, the alert will soon be cleared.
        holds: bool [any];
        // It follows from the instant of the end.
        + over(|row| FieldValue::Flag(row.is_over()), |_, _| Some(()));
        /// Start of the alert, nanoseconds since the Unix epoch; 0 if unknown.
        began_unix_ns: u64 [min];
        /// End of the alert, nanoseconds since the Unix epoch; `None` while it is active.
        ended_unix_ns: Option<u64> [max];
        /// Number of times that it was active. An entry that is over describes the last one of the
        /// most severe of them; [`Alert::last_time`] is what is shown as its times.
        times: u64 [sum];
        /// End of the last of them; `None` while the alert is active.
        last_unix_ns: Option<u64> [max];
        /// The last times that it was active, at most [`RECENT_KEPT`], and the longest one; while
        /// the alert is active, those before.
        recent: Vec<Occurrence> [first];
        /// No scan told which tasks waited because of the poll concerned, so that is unknown.
        behind_unknown: bool [any];
        /// For how long, while the poll concerned was in progress, no other covered poll ran on
        /// any thread, at least: 0 if others ran, or if that is unknown.
        unpolled_ns: u64 [max];
        /// Time for which the thread of a poll in progress was on a processor, in the last part of
        /// the poll; `None` if it is unknown.
        on_cpu_ns: Option<u64> [max];
        /// Length of that part of the poll; 0 if `on_cpu_ns` is unknown.
        on_cpu_of_ns: u64 [max];
        /// The alert follows from known facts. If `false`, `why` states the assumption.
        certain: bool [first];
        // Both are read as parties.
        + tasks(|row| FieldValue::Names(row.named(PartyKind::Task)), |_, _| Some(()));
        + resources(|row| FieldValue::Names(row.named(PartyKind::Resource)), |_, _| Some(()));
        /// The tasks, resources, workers and procs involved, in order.
        parties: Vec<Party> [first];
        /// The await point concerned, and its proc.
        at: Option<Point> [first];
        /// The chain of waits, in order. It is not read: no column shows it.
        steps: Vec<Step> [first] as steps(|row| FieldValue::Steps(row), |_, _| Some(()));
        /// Tasks that wait because of the alert.
        behind: Behind [first] as behind(
            |row| row.behind.tasks.spell(),
            |row, value| put(&mut row.behind.tasks, value)
        );
        + behind_count(|row| FieldValue::Number(row.behind_count()), |row, value| {
            let listed = row.behind.tasks.len() as u64;
            row.behind.unlisted = value.as_u64()?.saturating_sub(listed);
            Some(())
        });
        + behind_waits(
            |row| row.behind.waits.spell(),
            |row, value| put(&mut row.behind.waits, value)
        );
        /// The reason.
        why: String [first];
        /// Possible fixes, independent of each other.
        fixes: Vec<String> [first];
        // It follows from the kind.
        + docs(|row| FieldValue::Text(row.pitfall.docs()), |_, _| Some(()));
    }
    merged also by |into, other| {
        let more = other.behind_count();
        into.behind.unlisted = into.behind.unlisted.saturating_add(more);
    };
}

/// Maximum length of [`Alert::recent`].
pub const RECENT_KEPT: usize = 8;

/// One of the times that an alert was active.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occurrence {
    /// Start, nanoseconds since the Unix epoch.
    pub began_unix_ns: u64,
    /// Its length, in nanoseconds.
    pub held_ns: u64,
    /// Number of tasks that waited because of it.
    pub behind_count: u64,
}

/// Kind of a party.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartyKind {
    /// A task.
    Task,
    /// A resource.
    Resource,
    /// A worker.
    Worker,
    /// A proc.
    Proc,
}

impl PartyKind {
    /// The word used in the problem view and in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Resource => "resource",
            Self::Worker => "worker",
            Self::Proc => "proc",
        }
    }
}

/// A task, resource, worker or proc involved in an alert.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Party {
    /// Kind of the party.
    pub kind: PartyKind,
    /// Id of the task or resource; 0 for workers and procs, which have none.
    pub id: u64,
    /// Name of the party.
    pub name: String,
}

/// An await point in a proc.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Path of the proc.
    pub proc: String,
    /// The await point; `None` if unknown.
    pub place: Option<Place>,
}

/// One wait in a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The waiting task.
    pub task: Party,
    /// The await point.
    pub point: Point,
    /// Start of the wait, in nanoseconds of the process's clock.
    pub since: u64,
    /// The party waited for.
    pub on: Party,
    /// Relation of that party to the next step: `held 41.6 s, taken at snapshot.rs:92, by`.
    pub how: String,
}

/// Tasks that wait because of an alert without being part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Behind {
    /// The tasks known by name.
    pub tasks: Vec<Party>,
    /// Number of further waiting tasks.
    pub unlisted: u64,
    /// Where they waited, most tasks first, at most [`BEHIND_WAITS`]; then those that were asleep.
    pub waits: Vec<BehindWait>,
}

/// Maximum length of [`Behind::waits`].
pub const BEHIND_WAITS: usize = 8;

/// The await point at which tasks stood behind an alert.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BehindWait {
    /// The await point, and its proc.
    pub at: Point,
    /// Number of tasks that stood there.
    pub tasks: u64,
    /// The longest of their waits, as far as it lies within the alert.
    pub longest_ns: u64,
    /// Nothing woke them while the poll of the alert was in progress, and they were polled when it
    /// had ended. Whether they were due before is not known; they are not part of the number of
    /// tasks that wait because of the alert.
    pub asleep: bool,
}

impl Alert {
    /// Whether the alert is not active any more.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.ended_unix_ns.is_some()
    }

    /// Whether the alert describes a later time than `earlier`, which was one of its times, or a
    /// later moment: a long poll becomes a blocked worker.
    #[must_use]
    pub fn has_replaced(&self, earlier: &Self) -> bool {
        let began = earlier.began_unix_ns;
        let is_poll = self.is_in_poll() && earlier.is_in_poll();
        let is_time = || self.recent.iter().any(|time| time.began_unix_ns == began);
        (self.pitfall == earlier.pitfall || is_poll)
            && began != 0
            && (is_time() || is_poll && self.began_unix_ns == began)
    }

    /// The last time that an alert was active that is over, if it describes an earlier one, which
    /// was more severe. The times that are shown are those of the last one.
    #[must_use]
    pub fn last_time(&self) -> Option<&Occurrence> {
        let last = self.recent.last().filter(|_| self.is_over());
        last.filter(|last| last.began_unix_ns > self.began_unix_ns)
    }

    /// Length of the last time that it was active, in nanoseconds.
    #[must_use]
    pub fn lasted_ns(&self) -> u64 {
        self.last_time().map_or(self.held_ns, |last| last.held_ns)
    }

    /// Start of the last time that it was active, on the wall clock, in a snapshot taken at
    /// `at_unix_ns`.
    #[must_use]
    pub fn began_at(&self, at_unix_ns: u64) -> u64 {
        let last = self.last_time();
        match last.map_or(self.began_unix_ns, |last| last.began_unix_ns) {
            // Processes of earlier versions do not send it.
            0 => at_unix_ns.saturating_sub(self.lasted_ns()),
            began => began,
        }
    }

    /// Time since the last end of an alert that is over, in a snapshot taken at `at_unix_ns`.
    #[must_use]
    pub fn ended_ago(&self, at_unix_ns: u64) -> Option<u64> {
        let last = self.last_unix_ns.or(self.ended_unix_ns)?;
        Some(at_unix_ns.saturating_sub(last))
    }

    /// `resolved 42.0 s ago: blocked worker w1 …`: the title, and how long ago the alert ended if
    /// it is over.
    #[must_use]
    pub fn sentence(&self, at_unix_ns: u64, micro: Micro) -> String {
        let dated = self.dated_title(at_unix_ns, micro);
        match self.ended_ago(at_unix_ns) {
            None => dated,
            Some(_) => alloc::format!("resolved {dated}"),
        }
    }

    /// `42.0 s ago: blocked worker w1 …`; `42.0 s ago, worst of 3: …` if the title is about an
    /// earlier time than the last one; of an active alert only the title.
    #[must_use]
    pub fn dated_title(&self, at_unix_ns: u64, micro: Micro) -> String {
        let Some(ago) = self.ended_ago(at_unix_ns) else {
            return self.title.clone();
        };
        let ago = units::duration(ago, micro);
        let worst = match self.last_time() {
            Some(_) => alloc::format!(", worst of {}", units::count(self.times)),
            None => String::new(),
        };
        alloc::format!("{ago} ago{worst}: {}", self.title)
    }

    /// Time from `since`, on the process's clock, to the last scan that saw the pitfall.
    #[must_use]
    pub const fn age(&self, since: u64) -> u64 {
        self.since
            .saturating_add(self.held_ns)
            .saturating_sub(since)
    }

    /// Whether the alert is about a poll in progress: its await point is the last one that the poll
    /// has passed.
    #[must_use]
    pub const fn is_in_poll(&self) -> bool {
        matches!(
            self.pitfall,
            Pitfall::BlockedWorker | Pitfall::NeverYields | Pitfall::LongPoll
        )
    }

    /// Number of tasks that wait because of the alert.
    #[must_use]
    pub fn behind_count(&self) -> u64 {
        self.behind.unlisted + self.behind.tasks.len() as u64
    }
}
