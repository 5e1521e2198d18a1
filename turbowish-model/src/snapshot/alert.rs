//! Alerts as rows of a snapshot: a pitfall that is present now, its reason, and what to do about it.

use alloc::string::String;
use alloc::vec::Vec;

use super::Place;
use super::pitfall::Pitfall;

/// How bad it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something does not work and will not by itself.
    #[default]
    Alert,
    /// Something costs, or will.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// The word that tables and JSON print.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Alert => "alert",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A pitfall that holds now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alert {
    /// Which.
    pub pitfall: Pitfall,
    /// How bad this one is.
    pub severity: Severity,
    /// The instant from which on it holds; the same in every scan.
    pub since: u64,
    /// How long it has held; stands while it is not seen any more.
    pub held_ns: u64,
    /// It was seen in the last scan. If not, it will soon be gone.
    pub holds: bool,
    /// It follows from what is known. If not, `why` says on what it rests.
    pub certain: bool,
    /// A sentence that names it, what is involved, and how much.
    pub title: String,
    /// What it is, in a few words.
    pub summary: String,
    /// Tasks, resources, workers and procs that are involved, in order.
    pub parties: Vec<Party>,
    /// The await point that it is about, and its proc.
    pub at: Option<Point>,
    /// The chain of waits, in order.
    pub steps: Vec<Step>,
    /// Who waits because of it.
    pub behind: Behind,
    /// The reason.
    pub why: String,
    /// What can be done, each on its own.
    pub fixes: Vec<String>,
}

/// What a name is the name of.
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
    /// The word that the problem view and JSON print.
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

/// Somebody or something that is involved.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Party {
    /// What it is.
    pub kind: PartyKind,
    /// Its id; 0 for workers and procs, which have none.
    pub id: u64,
    /// Its name.
    pub name: String,
}

/// A place in a proc.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Path of the proc.
    pub proc: String,
    /// The await point, if it is known.
    pub place: Option<Place>,
}

/// One wait of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Who waits.
    pub task: Party,
    /// Where.
    pub point: Point,
    /// Since when.
    pub since: u64,
    /// On what.
    pub on: Party,
    /// What that has to do with the next step: `held 41.6 s, taken at snapshot.rs:92, by`.
    pub how: String,
}

/// Tasks that wait because of an alert without being part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Behind {
    /// Those that are known, by name.
    pub tasks: Vec<Party>,
    /// How many more wait.
    pub unlisted: u64,
}

impl Alert {
    /// Time from an instant of the process's clock to when this was seen last.
    #[must_use]
    pub const fn age(&self, since: u64) -> u64 {
        self.since
            .saturating_add(self.held_ns)
            .saturating_sub(since)
    }

    /// How many tasks wait because of it.
    #[must_use]
    pub fn behind_count(&self) -> u64 {
        self.behind.unlisted + self.behind.tasks.len() as u64
    }
}
