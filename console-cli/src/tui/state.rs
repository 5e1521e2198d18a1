//! Everything the screen shows is in here; only `update` changes it, and only a message makes it do so.

use turbowish_model::column::{Context, Style};
use turbowish_model::query::Query;
use turbowish_model::snapshot::{AwaitRow, ProcRow, Snapshot, TaskRow};
use turbowish_model::units::SECOND;
use turbowish_wire::client::Target;

use super::clock::Now;
use super::glyphs::Glyphs;
use super::rows::{Rows, Table};
use super::theme::Palette;

/// A table of the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Procs,
    Tasks,
    Awaits,
}

impl View {
    /// In the order of the tabs.
    pub(crate) const ALL: [Self; 3] = [Self::Procs, Self::Tasks, Self::Awaits];

    /// The digit that opens it.
    pub(crate) const fn digit(self) -> char {
        match self {
            Self::Procs => '1',
            Self::Tasks => '2',
            Self::Awaits => '4',
        }
    }

    /// What its tab says.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Procs => "Procs",
            Self::Tasks => "Tasks",
            Self::Awaits => "Awaits",
        }
    }

    /// The view that many tabs further on, round the end.
    pub(crate) fn step(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|view| *view == self).unwrap_or(0);
        Self::ALL[(at + by) % Self::ALL.len()]
    }
}

/// The three tables.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) procs: Table<ProcRow>,
    pub(crate) tasks: Table<TaskRow>,
    pub(crate) awaits: Table<AwaitRow>,
}

impl Tables {
    pub(crate) fn of(&self, view: View) -> &dyn Rows {
        match view {
            View::Procs => &self.procs,
            View::Tasks => &self.tasks,
            View::Awaits => &self.awaits,
        }
    }

    pub(crate) fn of_mut(&mut self, view: View) -> &mut dyn Rows {
        match view {
            View::Procs => &mut self.procs,
            View::Tasks => &mut self.tasks,
            View::Awaits => &mut self.awaits,
        }
    }
}

/// The length of the window that the tables speak of; `None` reaches back to the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window(pub(crate) Option<u64>);

impl Window {
    const STEPS: [u64; 3] = [SECOND, 10 * SECOND, 60 * SECOND];

    /// The next longer one; after "since start" the shortest.
    pub(crate) fn next(self) -> Self {
        match self.0 {
            None => Self(Some(Self::STEPS[0])),
            Some(ns) => Self(Self::STEPS.into_iter().find(|step| *step > ns)),
        }
    }
}

/// A process that can be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    /// Process id, if it is one of this host.
    pub(crate) pid: Option<u32>,
    /// Where it is reached.
    pub(crate) target: Target,
}

impl Peer {
    /// Whether both are the same process, by whichever way they are reached.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self.pid, other.pid) {
            (Some(a), Some(b)) => a == b,
            _ => self.target == other.target,
        }
    }
}

/// What became of the process watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It runs, as far as is known.
    Running,
    /// It exists and is stopped by a signal.
    Stopped,
    /// It no longer exists; noticed at that wall-clock time.
    Ended { unix_ns: u64 },
    /// It cannot be reached, for this reason.
    Refused(String),
}

/// Whom the console watches, and how well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The process watched.
    pub(crate) peer: Option<Peer>,
    /// When data came last, or the link began, on the console's clock.
    pub(crate) data_ns: u64,
    /// Attempts to connect since data came last.
    pub(crate) tries: u32,
    /// What became of it.
    pub(crate) fate: Fate,
}

/// One process of the picker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Where it is reached.
    pub(crate) peer: Peer,
    /// Its header, without rows, or why it does not answer.
    pub(crate) answer: Result<Snapshot, String>,
}

/// What lies over the table or replaces the hint line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Overlay {
    /// The keys, or the columns of the open view.
    Help { columns: bool, scroll: usize },
    /// The list of processes; nothing selected is the first one.
    Picker { selected: Option<Peer> },
    /// The sort menu.
    Menu { typed: String, at: usize },
    /// The filter line: its text, the filter before, and what is wrong with the text.
    Prompt {
        text: String,
        before: String,
        fault: Option<String>,
    },
    /// "Stop accounting?" or "Start accounting?"
    Question { arm: bool },
}

/// Data that have come and are not shown yet.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// The last snapshot, if it waits.
    pub(crate) held: Option<Box<Snapshot>>,
    /// When the display was frozen, on the console's clock.
    pub(crate) frozen_ns: Option<u64>,
    /// When a key came last, on the console's clock.
    pub(crate) key_ns: Option<u64>,
}

/// How things are drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) palette: Palette,
    pub(crate) glyphs: &'static Glyphs,
}

/// The whole state of the console.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) look: Look,
    /// Columns and rows of the terminal.
    pub(crate) size: (u16, u16),
    pub(crate) now: Now,
    /// Time between snapshots.
    pub(crate) interval_ns: u64,
    pub(crate) window: Window,
    pub(crate) view: View,
    pub(crate) tables: Tables,
    pub(crate) link: Link,
    /// The header of what is shown; its rows are in the tables.
    pub(crate) shown: Option<Snapshot>,
    pub(crate) pending: Pending,
    pub(crate) overlay: Option<Overlay>,
    /// Processes that could be watched; `None` until they have been looked for.
    pub(crate) listed: Option<Vec<Listed>>,
    /// What the last action came to, until the next key.
    pub(crate) notice: Option<String>,
}

/// What the process watched is, as far as the console knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No process is chosen.
    Looking,
    /// The first data have not come.
    Connecting,
    /// Data come.
    Live,
    /// No data for that many nanoseconds.
    Stale { ns: u64 },
    /// The process ended that many nanoseconds ago.
    Gone { ns: u64 },
}

/// What the state wants to be told of: the loop keeps that up, whatever led there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Snapshots of a process.
    pub(crate) watch: Option<(Peer, Query)>,
    /// The list of processes.
    pub(crate) listing: bool,
}

/// Data older than this and the interval are stale.
const PATIENCE_NS: u64 = 2 * SECOND;

impl State {
    pub(crate) fn new(look: Look, size: (u16, u16), window: Window, interval_ns: u64) -> Self {
        Self {
            look,
            size,
            now: Now::default(),
            interval_ns,
            window,
            view: View::Procs,
            tables: Tables::default(),
            link: Link {
                peer: None,
                data_ns: 0,
                tries: 0,
                fate: Fate::Running,
            },
            shown: None,
            pending: Pending::default(),
            overlay: None,
            listed: None,
            notice: None,
        }
    }

    /// The open table.
    pub(crate) fn table(&self) -> &dyn Rows {
        self.tables.of(self.view)
    }

    /// The open table.
    pub(crate) fn table_mut(&mut self) -> &mut dyn Rows {
        self.tables.of_mut(self.view)
    }

    /// What cells need beside their row.
    pub(crate) fn context(&self) -> Context {
        Context {
            window_ns: self.shown.as_ref().map_or(0, |shown| shown.window_ns),
        }
    }

    /// How cells are printed.
    pub(crate) fn style(&self) -> Style {
        Style {
            micro: self.look.glyphs.micro,
            ..Style::default()
        }
    }

    /// How well the process is seen.
    pub(crate) fn phase(&self) -> Phase {
        let silent = self.now.mono_ns.saturating_sub(self.link.data_ns);
        match (&self.link.peer, &self.link.fate) {
            (None, _) => Phase::Looking,
            _ if self.shown.is_none() => Phase::Connecting,
            (_, Fate::Ended { unix_ns }) => Phase::Gone {
                ns: self.now.unix_ns.saturating_sub(*unix_ns),
            },
            _ if silent > PATIENCE_NS + self.interval_ns => Phase::Stale { ns: silent },
            _ => Phase::Live,
        }
    }

    /// What the state wants to be told of.
    pub(crate) fn wanted(&self) -> Wanted {
        let ended = matches!(self.link.fate, Fate::Ended { .. }) && self.shown.is_some();
        let watch = self
            .link
            .peer
            .clone()
            .filter(|_| !ended)
            .map(|peer| (peer, self.query()));
        let picking = matches!(self.overlay, Some(Overlay::Picker { .. }));
        Wanted {
            listing: watch.is_none() || picking,
            watch,
        }
    }

    fn query(&self) -> Query {
        let rows = |view: View| Some(self.tables.of(view).rows_wanted(view == self.view));
        Query {
            window_ns: self.window.0,
            procs: rows(View::Procs),
            tasks: rows(View::Tasks),
            awaits: rows(View::Awaits),
        }
    }
}
