//! Data waiting to be shown, the current place, and the state of the sessions with processes that
//! the user has left.

use turbowish_model::snapshot::Snapshot;
use turbowish_model::snapshot::minute::LastMinute;

use super::{PauseRequest, PausedTask, Peer, Tables, View, Window};
use crate::detail::length::Lengths;
use crate::detail::rich_line::Link;
use crate::tui::history::History;
use crate::tui::mutes::Mutes;
use crate::tui::preview::Preview;
use crate::tui::record::Record;
use crate::tui::round::Round;

/// Data that have arrived and are not shown yet, and since when what is shown must stay.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// The last snapshot, if it waits.
    pub(crate) held: Option<Box<Snapshot>>,
    /// The record that the held data belong to, if any.
    pub(crate) of: Option<Link>,
    /// The time at which the display was frozen, on the console's clock.
    pub(crate) frozen_ns: Option<u64>,
    /// The time of the last key, on the console's clock.
    pub(crate) key_ns: Option<u64>,
    /// The time at which the cursor moved last in a table, on the console's clock.
    pub(crate) moved_ns: Option<u64>,
    /// When the message in place of the alert line came, on the console's clock.
    pub(crate) told_ns: Option<u64>,
    /// The last minute as it was when the display was frozen.
    pub(crate) trends: Option<LastMinute>,
}

/// The current place, the history, and the sessions with other processes.
#[derive(Debug, Default)]
pub(crate) struct Navigation {
    /// The data received for the open record: the rows of the tables do not change.
    pub(crate) near: Option<Box<Snapshot>>,
    /// The worst rows of all tables, as last received while a record is open.
    pub(crate) survey: Option<Box<Snapshot>>,
    /// The problems that the user steps through, if the open record is one of them.
    pub(crate) round: Option<Round>,
    pub(crate) preview: Preview,
    /// The history of fill levels of resources, recorded in every view.
    pub(crate) lengths: Lengths,
    /// The last minute of the header's numbers, recorded in every view.
    pub(crate) trends: LastMinute,
    pub(crate) history: History,
    /// The sessions with other processes.
    pub(crate) sessions: Vec<Session>,
    /// Tasks of all processes that this console has paused.
    pub(crate) holds: Vec<PausedTask>,
    /// Requests of the key `p`, until the rows show their effect.
    pub(crate) toggles: Vec<PauseRequest>,
    /// The message about the last successful action, shown for some seconds, or until the next key.
    pub(crate) news: Option<String>,
    /// Alerts that are to come: told as long as there are none.
    pub(crate) forecast: Option<&'static str>,
    /// The muted alerts.
    pub(crate) mutes: Mutes,
    /// Lines that were typed before.
    pub(crate) typed: TypedBefore,
    pub(crate) tapes: Tapes,
}

/// The recordings that this console writes to files.
#[derive(Debug, Default)]
pub(crate) struct Tapes {
    /// That of the states from its beginning on.
    pub(crate) running: Option<Taping>,
    /// Set while that of what a process keeps is requested and written.
    pub(crate) is_copying: bool,
}

/// The lines that were typed before, the most recent at the end.
#[derive(Debug, Default)]
pub(crate) struct TypedBefore {
    pub(crate) commands: Vec<String>,
    /// Confirmed filters of all tables.
    pub(crate) filters: Vec<String>,
}

/// A recording to a file, as far as it is known here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Taping {
    /// When it was begun, on the console's clock.
    pub(crate) begun_ns: u64,
    /// Bytes in the file.
    pub(crate) bytes: u64,
}

/// The session with a process that the user has switched away from.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) peer: Peer,
    pub(crate) view: View,
    pub(crate) window: Window,
    /// The tables, without rows.
    pub(crate) tables: Tables,
    pub(crate) record: Option<Record>,
    pub(crate) history: History,
    pub(crate) mutes: Mutes,
}
