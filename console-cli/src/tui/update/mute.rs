//! Muted alerts: they have no banner and no mark, and come last in the triage list.

use turbowish_model::snapshot::alert::Alert;

use crate::detail::rich_line::Link;
use crate::tui::state::{State, View};
use crate::tui::{layout, mutes};

/// Mutes the selected alert or that of the open record; unmutes it if it is muted.
pub(super) fn switch(state: &mut State) {
    let Some(link) = selected(state) else {
        state.notice = Some("m mutes an alert; 5 lists them".to_owned());
        return;
    };
    let alert = state.alerts().find(|a| Link::alert(a) == link);
    let Some(alert) = alert.cloned() else {
        state.notice = Some("this alert is resolved".to_owned());
        return;
    };
    if state.record.is_none()
        && let Some(row) = state.table().selected()
    {
        // The row moves to the end, and the selection with it, so that pressing m again is for the
        // same alert.
        let height = layout::table_rows(state);
        state.table_mut().select(row, height);
    }
    let (now, title) = (state.now.mono_ns, alert.pitfall.title());
    let mutes = &mut state.visit.mutes;
    state.notice = Some(if mutes.left(&alert, now).is_some() {
        mutes.unmute(&alert);
        format!("{title}: unmuted")
    } else {
        mutes.mute(&alert, now);
        let word = mutes::word(mutes::MUTE_NS);
        format!("{title}: {word}, or until it gets worse; m unmutes")
    });
    mark(state);
}

fn selected(state: &State) -> Option<Link> {
    if let Some(open) = &state.record {
        return Some(open.subject.clone()).filter(|link| matches!(link, Link::Alert(..)));
    }
    if state.view != View::Alerts {
        return None;
    }
    let table = state.table();
    table.selected().and_then(|row| table.link(row))
}

/// Removes expired mutes; alerts that have become worse are unmuted.
pub(super) fn prune(state: &mut State) {
    if state.visit.mutes.is_empty() {
        return;
    }
    let now = state.now.mono_ns;
    let alerts: Vec<Alert> = state.alerts().cloned().collect();
    if state.visit.mutes.prune(&alerts, now) {
        mark(state);
    }
}

/// Updates the marks in the rows of all tables.
pub(super) fn mark(state: &mut State) {
    let context = state.context();
    let alerts: Vec<Alert> = state.alerts().cloned().collect();
    let (mutes, now) = (state.visit.mutes.clone(), state.now.mono_ns);
    for view in View::ALL {
        let table = state.tables.of_mut(view);
        table.mark(&alerts, &|alert| mutes.left(alert, now), &context);
    }
}
