//! The subscriptions of the state: a process, rows of it, the list of processes.

use turbowish_model::query::{Query, Rows as Asked};

use super::{Overlay, PausedTask, Peer, PeerState, State, View};
use crate::tui::record::HistoryQuery;
use crate::tui::rows::BACKGROUND_ROWS;
use crate::tui::{layout, record};

/// The data that the state requires: the loop keeps the subscriptions up, however the state came to
/// require them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Subscription to the snapshots of a process.
    pub(crate) watch: Option<(Peer, Query)>,
    /// A state of the recording, by its number, and the rows of it.
    pub(crate) past: Option<(usize, Query)>,
    /// With each snapshot, a request for the worst rows of its tables.
    pub(crate) survey: Option<Query>,
    /// The history of the open record.
    pub(crate) history: Option<HistoryQuery>,
    /// Subscription to the list of processes.
    pub(crate) listing: bool,
    /// Tasks whose pause leases are renewed.
    pub(crate) holds: Vec<PausedTask>,
}

impl State {
    /// The present subscriptions.
    pub(crate) fn wanted(&self) -> Wanted {
        let ended = matches!(self.link.fate, PeerState::Ended { .. }) && self.shown.is_some();
        let watch = self
            .link
            .peer
            .clone()
            .filter(|_| !ended && self.link.past.is_none())
            .map(|peer| (peer, self.query()));
        // The command line completes process IDs.
        let picking = matches!(self.overlay, Some(Overlay::Picker(_) | Overlay::Command(_)));
        let past = self.link.past.as_ref();
        Wanted {
            listing: watch.is_none() && past.is_none() || picking,
            past: past.map(|past| (past.at(), self.query())),
            survey: self
                .record
                .as_ref()
                .map(|_| survey(self.requested_window().0)),
            watch,
            history: record::history_query(self),
            holds: self.visit.holds.clone(),
        }
    }

    /// Whether a view has a tab: few programs have counters.
    pub(crate) fn has_tab(&self, view: View) -> bool {
        let is_used = || self.tables.of(View::Counters).counts().total > 0;
        view != View::Counters || self.view == view || is_used()
    }

    /// Whether a preview is on the screen.
    pub(crate) fn previews(&self) -> bool {
        let on = self.visit.preview.is_on(self.view) && self.record.is_none();
        on && layout::has_room(self.size)
    }

    fn query(&self) -> Query {
        if let Some(open) = &self.record {
            return open.query(self.requested_window().0);
        }
        let previews = self.previews();
        let rows = |view: View| {
            let mut rows = self.tables.of(view).rows_wanted(view == self.view);
            if previews && view != self.view {
                // The record of a row contains rows of the other tables.
                rows.limit = record::BESIDE;
            }
            Some(rows)
        };
        let beside = || Asked {
            limit: record::BESIDE,
            ..Asked::default()
        };
        Query {
            window_ns: self.requested_window().0,
            procs: rows(View::Procs),
            tasks: rows(View::Tasks),
            resources: rows(View::Resources),
            awaits: rows(View::Awaits),
            counters: rows(View::Counters),
            delays: previews.then(beside),
            slowest: previews.then(beside),
            // All alerts come, whatever the filter of their table: the alert line and the marks
            // need them.
            ..Query::default()
        }
    }
}

/// The rows of the triage list, independent of filter and order of the tables.
fn survey(window_ns: Option<u64>) -> Query {
    let rows = || {
        Some(Asked {
            limit: BACKGROUND_ROWS,
            ..Asked::default()
        })
    };
    Query {
        window_ns,
        procs: rows(),
        tasks: rows(),
        resources: rows(),
        ..Query::default()
    }
}
