//! Arrival of data and of connection events: data held back, data shown, and the process that the
//! console switches to.

use std::mem::take;

use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::column::{self, Context};
use turbowish_model::snapshot::minute::LastMinute;
use turbowish_model::snapshot::units::Micro;
use turbowish_model::snapshot::{Accounting, Snapshot};

use super::record::NO_ALERTS;
use super::{QUIET_NS, STEADY_NS, hold, mute, record};
use crate::detail::rich_line::Link;
use crate::text;
use crate::tui::history::History;
use crate::tui::mutes::Mutes;
use crate::tui::record::Record;
use crate::tui::state::{Listed, Overlay, Peer, PeerState, Picker, State, View, Watched};

/// A snapshot arrived: it is shown at once, or held while the display is frozen or keys are being
/// pressed.
pub(super) fn snapshot(state: &mut State, mut snapshot: Box<Snapshot>) {
    snapshot.alerts.rows.sort_by_key(column::worst_first);
    let micro = state.look.glyphs.micro;
    snapshot
        .alerts
        .rows
        .iter_mut()
        .for_each(|alert| write_times(alert, micro));
    state.link.data_ns = state.now.mono_ns;
    state.link.tries = 0;
    state.link.fate = PeerState::Running;
    let rows = &snapshot.resources.rows;
    let (uptime_ns, pace_ns) = (snapshot.process.uptime_ns, state.pace_ns());
    state.visit.lengths.note(uptime_ns, pace_ns, rows);
    // Its own numbers are of the window that is shown; the process keeps those of one window.
    if snapshot.minute == LastMinute::default() {
        state.visit.trends.note(&snapshot);
    }
    state.visit.trends.join(&snapshot.minute);
    if let Some(past) = &mut state.link.past {
        past.arrived();
        // It was asked for by a key, and is not followed by others.
        return show(state, *snapshot);
    }
    state.pending.held = Some(snapshot);
    state.pending.of = subject(state);
    show_held(state);
}

/// Converts times in an alert's text to the terminal's spelling of microseconds.
fn write_times(alert: &mut Alert, micro: Micro) {
    let Alert {
        title,
        summary,
        why,
        fixes,
        steps,
        ..
    } = alert;
    let hows = steps.iter_mut().map(|step| &mut step.how);
    for text in [title, summary, why].into_iter().chain(fixes).chain(hows) {
        *text = text::with_micro(text, micro);
    }
}

/// The worst rows of the tables have arrived, for an open record; while the display is frozen they
/// do not change.
pub(super) fn survey(state: &mut State, survey: Box<Snapshot>) {
    if state.record.is_some() && state.pending.frozen_ns.is_none() {
        state.visit.survey = Some(survey);
        record::restep(state);
    }
}

/// Shows the held data, unless the display must not change.
pub(super) fn show_held(state: &mut State) {
    let quiet = is_past(state, state.pending.key_ns, QUIET_NS);
    if state.pending.frozen_ns.is_some() || (!quiet && state.shown.is_some()) {
        return;
    }
    // Data sent before a record was opened or closed have other rows.
    if state.pending.of == subject(state)
        && let Some(snapshot) = state.pending.held.take()
    {
        show(state, *snapshot);
    }
}

/// Whether an instant is so long ago, or unknown.
fn is_past(state: &State, at_ns: Option<u64>, ns: u64) -> bool {
    at_ns.is_none_or(|at| state.now.mono_ns.saturating_sub(at) >= ns)
}

fn subject(state: &State) -> Option<Link> {
    state.record.as_ref().map(|open| open.subject.clone())
}

fn show(state: &mut State, mut snapshot: Snapshot) {
    let disarmed = snapshot.process.accounting == Accounting::Disarmed;
    let counted = state
        .shown
        .as_ref()
        .is_some_and(|shown| shown.window_ns > 0);
    let live = state.link.past.is_none();
    if live && disarmed && counted && snapshot.procs.rows.iter().all(|row| row.polls == 0) {
        // The tables end where accounting was disarmed: the last values stay.
        if let Some(shown) = &mut state.shown {
            shown.process = snapshot.process;
            shown.at_unix_ns = snapshot.at_unix_ns;
        }
        return;
    }
    if state.record.is_some() {
        // The rows belong to the record: those of the tables do not change.
        let near = Snapshot {
            procs: take(&mut snapshot.procs),
            tasks: take(&mut snapshot.tasks),
            awaits: take(&mut snapshot.awaits),
            counters: take(&mut snapshot.counters),
            delays: take(&mut snapshot.delays),
            slowest: take(&mut snapshot.slowest),
            resources: take(&mut snapshot.resources),
            window_ns: snapshot.window_ns,
            at_unix_ns: snapshot.at_unix_ns,
            ..Snapshot::default()
        };
        state.visit.near = Some(Box::new(near));
        state.shown = Some(snapshot);
    } else {
        state.visit.survey = None;
        state.tables.read = Context::of(&snapshot);
        // A row must not move away from under the cursor of a user who is about to press Enter.
        let steady = !is_past(state, state.pending.moved_ns, STEADY_NS);
        let alerts = snapshot.alerts.clone();
        for view in View::ALL {
            state.tables.of_mut(view).take(&mut snapshot, steady);
        }
        // The tables have taken their rows; these belong to the whole screen.
        snapshot.alerts = alerts;
        state.shown = Some(snapshot);
    }
    if !state.visit.mutes.is_empty() {
        mute::mark(state);
    }
    if state.alerts().next().is_some() {
        state.notice.take_if(|notice| notice == NO_ALERTS);
    }
    hold::shown(state);
    record::follow(state);
    record::restep(state);
}

/// No data have arrived.
pub(super) fn silent(state: &mut State, tries: u32, fate: PeerState) {
    state.link.tries = tries;
    let ended = |fate: &PeerState| matches!(fate, PeerState::Ended { .. });
    if !(ended(&state.link.fate) && ended(&fate)) {
        state.link.fate = fate;
    }
}

/// The list of processes has arrived: a lone process is attached to, and one with the command line
/// of an ended process is followed.
pub(super) fn listed(state: &mut State, listed: Vec<Listed>) {
    let picking = matches!(
        state.overlay,
        Some(Overlay::Picker(_) | Overlay::Command(_))
    );
    if !state.has_subject() && !picking {
        match listed.as_slice() {
            [] => {}
            [only] => attach(state, only.peer.clone()),
            [_, _, ..] => state.overlay = Some(Overlay::Picker(Picker::default())),
        }
    } else if matches!(state.link.fate, PeerState::Ended { .. })
        && let Some(next) = successor(state, &listed)
    {
        attach(state, next);
    }
    state.listed = Some(listed);
}

/// The only process with the same command line as the ended one, if there is exactly one.
fn successor(state: &State, listed: &[Listed]) -> Option<Peer> {
    let ended = &state.shown.as_ref()?.process;
    let same = |listed: &&Listed| {
        listed.answer.as_ref().is_ok_and(|found| {
            found.process.command == ended.command && found.process.pid != ended.pid
        })
    };
    let mut found = listed.iter().filter(same);
    match (found.next(), found.next()) {
        (Some(only), None) => Some(only.peer.clone()),
        _ => None,
    }
}

/// Switches to a process; filter and order of the tables are kept, their rows are not. Only records
/// of procs stay open: IDs of tasks and resources mean nothing in another process.
pub(super) fn attach(state: &mut State, peer: Peer) {
    if state.link.peer.as_ref().is_some_and(|now| now.is(&peer))
        && !matches!(state.link.fate, PeerState::Ended { .. })
    {
        return;
    }
    state.link = Watched {
        peer: Some(peer),
        past: None,
        data_ns: state.now.mono_ns,
        pace_ns: 0,
        tries: 0,
        fate: PeerState::Running,
    };
    for view in View::ALL {
        state.tables.of_mut(view).clear();
    }
    state.shown = None;
    let lasts = |open: &Record| matches!(open.subject, Link::Proc(_));
    state.record = state.record.take().filter(lasts);
    state.visit.near = None;
    state.tables.read = Context::default();
    state.visit.survey = None;
    state.visit.round = None;
    state.visit.lengths.clear();
    state.visit.trends = LastMinute::default();
    state.visit.history = History::default();
    state.visit.mutes = Mutes::default();
    state.pending.held = None;
    state.pending.frozen_ns = None;
}
