//! The state: everything that the screen shows. Only `update` changes it, and only in response to a
//! message.

mod navigation;
mod past;
pub(crate) mod typed;
mod views;
mod wanted;

use turbowish_model::query::RECORDED_WINDOW_NS;
use turbowish_model::snapshot::Snapshot;
use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::column::{Context, Style};
use turbowish_model::snapshot::units::SECOND;
use turbowish_wire::client::Target;

pub(crate) use self::navigation::{Navigation, Pending, Session, Taping};
pub(crate) use self::past::{AlertTime, Leap, Past};
pub(crate) use self::typed::{HelpPage, Picker, Typed};
pub(crate) use self::views::{Tables, View};
pub(crate) use self::wanted::Wanted;
use super::clock::Now;
use super::glyphs::Glyphs;
use super::record::Record;
use super::rows::AnyTable;
pub(crate) use crate::args::Window;
use crate::detail::DetailContext;
use crate::theme::{Palette, Theme};

impl Window {
    const STEPS: [u64; 3] = [SECOND, 10 * SECOND, 60 * SECOND];

    /// The next longer window; after "since start" the shortest.
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
    /// Process ID, if the process runs on this host.
    pub(crate) pid: Option<u32>,
    /// The address of the process.
    pub(crate) target: Target,
}

impl Peer {
    /// Whether both are the same process, even if reached in different ways.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self.pid, other.pid) {
            (Some(a), Some(b)) => a == b,
            _ => self.target == other.target,
        }
    }

    /// The name of the process in commands.
    pub(crate) fn word(&self) -> String {
        match self.pid {
            Some(pid) => pid.to_string(),
            None => self.target.to_string(),
        }
    }
}

/// The state of the watched process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PeerState {
    /// It runs, as far as known.
    Running,
    /// It exists and is stopped by a signal.
    Stopped,
    /// It no longer exists; noticed at that wall-clock time.
    Ended { unix_ns: u64 },
    /// It cannot be reached, for this reason.
    Refused(String),
}

/// The watched process, and the state of the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Watched {
    /// The process watched.
    pub(crate) peer: Option<Peer>,
    /// The time of the last data, or of the start of the connection, on the console's clock.
    pub(crate) data_ns: u64,
    /// The process's interval between two snapshots, in nanoseconds; 0 while unknown.
    pub(crate) pace_ns: u64,
    /// The recording that is shown instead of a process.
    pub(crate) past: Option<Past>,
    /// Attempts to connect since data came last.
    pub(crate) tries: u32,
    /// The state of the process.
    pub(crate) fate: PeerState,
}

/// One entry of the process list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) peer: Peer,
    /// Its header, without rows, or the reason why it does not answer.
    pub(crate) answer: Result<Snapshot, String>,
}

/// The overlay, or the replacement of the hint line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Overlay {
    /// A page of help.
    Help { page: HelpPage, scroll: usize },
    /// The list of processes.
    Picker(Picker),
    /// The sort menu, and the typed text.
    Menu { typed: String, at: usize },
    /// The column list.
    Columns { at: usize },
    /// The filter line, and the previous filter.
    Prompt { typed: Typed, before: String },
    /// The command line.
    Command(Typed),
    /// A question in place of the hints.
    Question(Question),
}

/// A question before an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// Whether to arm or disarm.
    Switch { arm: bool },
    /// Whether to pause a task.
    Pause(PausedTask),
    /// Whether the tasks paused by this console are resumed.
    Leave,
    /// The choice of the debugger.
    Debugger(PausedTask),
}

/// A task of a process that this console has paused, or is to pause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PausedTask {
    pub(crate) peer: Peer,
    /// ID of the task.
    pub(crate) task: u64,
    pub(crate) name: String,
}

impl PausedTask {
    /// Whether both are of the same task.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.task == other.task && self.peer.is(&other.peer)
    }
}

/// A request to pause or to resume a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PauseRequest {
    pub(crate) hold: PausedTask,
    /// Whether the task is to be paused.
    pub(crate) paused: bool,
    /// The time at which the process confirmed it, on the console's clock; `None` until then.
    pub(crate) answered_ns: Option<u64>,
}

/// The appearance of the console.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Appearance {
    pub(crate) palette: Palette,
    pub(crate) glyphs: &'static Glyphs,
    /// The console receives clicks; else the terminal uses them to select text.
    pub(crate) mouse: bool,
    /// The theme that the user selected; else the palette follows the environment.
    pub(crate) theme: Option<Theme>,
    /// The window that an earlier console has left, if it is not the usual one: the title says so.
    pub(crate) kept_window: Option<Window>,
}

/// The whole state of the console.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) look: Appearance,
    /// Columns and lines of the terminal.
    pub(crate) size: (u16, u16),
    pub(crate) now: Now,
    /// Requested interval between snapshots, in nanoseconds.
    pub(crate) interval_ns: u64,
    pub(crate) window: Window,
    pub(crate) view: View,
    pub(crate) tables: Tables,
    pub(crate) link: Watched,
    /// The displayed header and its alerts, the worst first; its rows are in the tables.
    pub(crate) shown: Option<Snapshot>,
    pub(crate) pending: Pending,
    pub(crate) overlay: Option<Overlay>,
    /// The open record, which replaces the table.
    pub(crate) record: Option<Record>,
    pub(crate) visit: Navigation,
    /// Processes that can be watched; `None` until they have been listed.
    pub(crate) listed: Option<Vec<Listed>>,
    /// The error of the last action, shown for some seconds, or until the next key.
    pub(crate) notice: Option<String>,
}

/// The phase of the connection to the watched process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No process is selected.
    Looking,
    /// No data have arrived yet.
    Connecting,
    /// Data arrive.
    Live,
    /// A state of a recording is shown.
    Past,
    /// No data for that many nanoseconds.
    Stale { ns: u64 },
    /// The process ended that many nanoseconds ago.
    Gone { ns: u64 },
}

/// Data older than this plus the time between two snapshots are stale.
const PATIENCE_NS: u64 = 2 * SECOND;

impl State {
    pub(crate) fn new(
        look: Appearance,
        size: (u16, u16),
        window: Window,
        interval_ns: u64,
    ) -> Self {
        Self {
            look,
            size,
            now: Now::default(),
            interval_ns,
            window,
            view: View::Procs,
            tables: Tables::default(),
            link: Watched {
                peer: None,
                past: None,
                data_ns: 0,
                pace_ns: 0,
                tries: 0,
                fate: PeerState::Running,
            },
            shown: None,
            pending: Pending::default(),
            overlay: None,
            record: None,
            visit: Navigation::default(),
            listed: None,
            notice: None,
        }
    }

    /// Reports a successful action.
    pub(crate) fn say(&mut self, done: String) {
        self.notice = None;
        self.visit.news = Some(done);
    }

    /// The open table.
    pub(crate) fn table(&self) -> &dyn AnyTable {
        self.tables.of(self.view)
    }

    /// The open table.
    pub(crate) fn table_mut(&mut self) -> &mut dyn AnyTable {
        self.tables.of_mut(self.view)
    }

    /// The active alerts, the worst first; current even while the display is frozen.
    pub(crate) fn alerts(&self) -> impl Iterator<Item = &Alert> {
        self.all_alerts().iter().filter(|alert| !alert.is_over())
    }

    /// The alert that the alert line names, and that `!` opens: the first one that is not muted,
    /// active or not.
    pub(crate) fn headline(&self) -> Option<&Alert> {
        self.all_heard().next()
    }

    /// The alerts that are not muted, active or not, in the order in which they are shown.
    pub(crate) fn all_heard(&self) -> impl Iterator<Item = &Alert> {
        let (mutes, now) = (&self.visit.mutes, self.now.mono_ns);
        let alerts = self.all_alerts().iter();
        alerts.filter(move |alert| mutes.left(alert, now).is_none())
    }

    /// Active alerts and those that are over, in the order in which they are shown.
    pub(crate) fn all_alerts(&self) -> &[Alert] {
        let frozen = self.pending.frozen_ns.and(self.pending.held.as_deref());
        let last = frozen.or(self.shown.as_ref());
        last.map_or(&[], |snapshot| &snapshot.alerts.rows)
    }

    /// The active alerts that are not muted.
    pub(crate) fn heard(&self) -> impl Iterator<Item = &Alert> {
        self.all_heard().filter(|alert| !alert.is_over())
    }

    /// The context of cells, in addition to their row.
    pub(crate) fn context(&self) -> Context {
        match (&self.shown, self.tables.read) {
            (Some(shown), Context { at_unix_ns: 0, .. }) => Context::of(shown),
            (Some(_), rows) => rows,
            (None, _) => Context::default(),
        }
    }

    /// When the rows of the tables were read, if the header is of a later instant: a record was
    /// open.
    pub(crate) fn rows_are_of(&self) -> Option<u64> {
        let at = self.tables.read.at_unix_ns;
        let shown = self.shown.as_ref()?;
        (at != 0 && at != shown.at_unix_ns && self.record.is_none()).then_some(at)
    }

    /// The format of cells.
    pub(crate) fn style(&self) -> Style {
        Style {
            micro: self.look.glyphs.micro,
            levels: &self.look.glyphs.levels,
            utc_offset_s: self.now.utc_offset_s,
            ..Style::default()
        }
    }

    /// Whether a process or a recording is watched.
    pub(crate) fn has_subject(&self) -> bool {
        self.link.peer.is_some() || self.link.past.is_some()
    }

    /// The window whose sums are requested: a recording has one window only.
    pub(crate) fn requested_window(&self) -> Window {
        match self.link.past {
            Some(_) => Window(Some(RECORDED_WINDOW_NS)),
            None => self.window,
        }
    }

    /// Nanoseconds between two snapshots: the requested interval, or that of the process if longer.
    pub(crate) fn pace_ns(&self) -> u64 {
        self.interval_ns.max(self.link.pace_ns)
    }

    /// The phase of the connection.
    pub(crate) fn phase(&self) -> Phase {
        let silent = self.now.mono_ns.saturating_sub(self.link.data_ns);
        match (&self.link.peer, &self.link.fate) {
            (None, _) if !self.has_subject() => Phase::Looking,
            _ if self.shown.is_none() => Phase::Connecting,
            _ if self.link.past.is_some() => Phase::Past,
            (_, PeerState::Ended { unix_ns }) => Phase::Gone {
                ns: self.now.unix_ns.saturating_sub(*unix_ns),
            },
            _ if silent > PATIENCE_NS + self.pace_ns() => Phase::Stale { ns: silent },
            _ => Phase::Live,
        }
    }

    /// The rows available for a record: those that arrived for it, else those of the tables.
    pub(crate) fn beside(&self) -> DetailContext<'_> {
        let window_ns = self.shown.as_ref().map_or(0, |shown| shown.window_ns);
        // The first column is reserved for the mark.
        let room = Some(usize::from(self.size.0).saturating_sub(1));
        let alerts = self.all_alerts();
        let lengths = Some(&self.visit.lengths);
        let micro = self.look.glyphs.micro;
        let utc_offset_s = self.now.utc_offset_s;
        match &self.visit.near {
            Some(near) => DetailContext {
                alerts,
                window_ns,
                utc_offset_s,
                room,
                lengths,
                micro,
                ..DetailContext::of(near)
            },
            None => DetailContext {
                procs: self.tables.procs.rows(),
                tasks: self.tables.tasks.rows(),
                some_tasks: !self.tables.tasks.is_all(),
                resources: self.tables.resources.rows(),
                awaits: self.tables.awaits.rows(),
                counters: self.tables.counters.rows(),
                delays: self.shown.as_ref().map_or(&[], |shown| &shown.delays.rows),
                slowest: self.shown.as_ref().map_or(&[], |shown| &shown.slowest.rows),
                alerts,
                window_ns,
                at_unix_ns: self.shown.as_ref().map_or(0, |shown| shown.at_unix_ns),
                utc_offset_s,
                room,
                lengths,
                micro,
            },
        }
    }
}
