//! Sessions: view, window, filters and history are kept for each process while another one is
//! watched.

use std::mem::take;

use super::arrival::attach;
use crate::tui::settings::Settings;
use crate::tui::state::{Peer, PeerState, Session, State, View};

/// Maximal number of sessions; the oldest are dropped first.
const KEPT: usize = 16;

/// Switches to another process, and restores its last session.
pub(super) fn turn(state: &mut State, peer: Peer) {
    let own = state.link.peer.clone();
    let ended = matches!(state.link.fate, PeerState::Ended { .. });
    if own.as_ref().is_some_and(|own| own.is(&peer) && !ended) {
        return;
    }
    let settings = Settings::of(state);
    let (record, history) = (state.record.take(), take(&mut state.visit.history));
    let mutes = take(&mut state.visit.mutes);
    let known = state
        .visit
        .sessions
        .iter()
        .position(|session| session.peer.is(&peer));
    let next = known.map(|at| state.visit.sessions.remove(at));
    if let Some(own) = own.filter(|own| !own.is(&peer)) {
        for view in View::ALL {
            state.tables.of_mut(view).clear();
        }
        state.visit.sessions.push(Session {
            peer: own,
            view: state.view,
            window: state.window,
            tables: take(&mut state.tables),
            record,
            history,
            mutes,
        });
        let beyond = state.visit.sessions.len().saturating_sub(KEPT);
        state.visit.sessions.drain(..beyond);
    }
    attach(state, peer);
    if let Some(session) = next {
        state.view = session.view;
        state.window = session.window;
        state.tables = session.tables;
        state.record = session.record;
        state.visit.history = session.history;
        state.visit.mutes = session.mutes;
    } else {
        // Columns and order belong to the user, not to a process.
        settings.apply_tables(state);
    }
}
