//! Data waiting to be shown, the current place, and the state of the sessions with processes that
//! the user has left.

use turbowish_model::snapshot::Snapshot;

use super::{PauseRequest, PausedTask, Peer, Tables, View, Window};
use crate::detail::length::Lengths;
use crate::detail::rich_line::Link;
use crate::tui::history::History;
use crate::tui::mutes::Mutes;
use crate::tui::preview::Preview;
use crate::tui::record::Record;

/// Data that have arrived and are not shown yet.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// The last snapshot, if it waits.
    pub(crate) held: Option<Box<Snapshot>>,
    /// Of which record it tells, if of one.
    pub(crate) of: Option<Link>,
    /// When the display was frozen, on the console's clock.
    pub(crate) frozen_ns: Option<u64>,
    /// When a key came last, on the console's clock.
    pub(crate) key_ns: Option<u64>,
}

/// Where one is, was, and has been with other processes.
#[derive(Debug, Default)]
pub(crate) struct Navigation {
    /// What came for the open record: the rows of the tables stay as they were.
    pub(crate) near: Option<Box<Snapshot>>,
    /// The worst rows of all tables, as they came last while a record is open.
    pub(crate) survey: Option<Box<Snapshot>>,
    /// Which of the worst things the open record is of, if one has stepped to it.
    pub(crate) step: Option<Step>,
    /// The preview, if it is on.
    pub(crate) preview: Option<Preview>,
    /// How full resources were, whatever was open.
    pub(crate) lengths: Lengths,
    pub(crate) history: History,
    /// What one had made of the other processes.
    pub(crate) seats: Vec<Session>,
    /// Tasks of all processes that this console has paused.
    pub(crate) holds: Vec<PausedTask>,
    /// What `p` has asked for, until the rows show it.
    pub(crate) toggles: Vec<PauseRequest>,
    /// What the last action has done, if that is all there is to say, until the next key.
    pub(crate) news: Option<String>,
    /// Alerts that one does not want to hear of.
    pub(crate) mutes: Mutes,
    /// What was typed into the command line, the last one at the end.
    pub(crate) commands: Vec<String>,
    /// Filters that were kept, of all tables, the last one at the end.
    pub(crate) filters: Vec<String>,
}

/// What one has made of a process that one has turned away from.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) peer: Peer,
    pub(crate) view: View,
    pub(crate) window: Window,
    /// Without their rows.
    pub(crate) tables: Tables,
    pub(crate) record: Option<Record>,
    pub(crate) history: History,
    pub(crate) mutes: Mutes,
}

/// A place among the worst things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// From 0; if what stood there is none of them any more, the next one has come up to it.
    pub(crate) at: usize,
    /// What stood there still does.
    pub(crate) stands_out: bool,
}
