//! Records: the open one, the targets of its links, and the way back.

use super::{Stride, awaited, resort, stride};
use crate::detail::rich_line::Link;
use crate::history::SubjectHistory;
use crate::tui::history::{History, Stop};
use crate::tui::keys::Action;
use crate::tui::record::{self, HistoryQuery, Record, RecordRow};
use crate::tui::round::Round;
use crate::tui::rows::Absent;
use crate::tui::state::{State, View};
use crate::tui::triage::{self, Thing};

/// What the key that opens an alert says if there is none; until there is one.
pub(super) const NO_ALERTS: &str = "no alerts";

/// Opens the alert that the alert line names.
pub(super) fn worst_alert(state: &mut State) {
    match state.headline().map(Link::alert) {
        Some(link) => open(state, link),
        None if state.alerts().next().is_none() => state.notice = Some(NO_ALERTS.to_owned()),
        None => state.notice = Some("all alerts are muted; 5 lists them".to_owned()),
    }
}

/// Opens the next or previous problem; the first if none of them is open.
pub(super) fn step(state: &mut State, forward: bool) {
    let list = triage::list(state);
    let here = stands(state, &list);
    let round = match (state.visit.round.take(), here) {
        (Some(round), _) => round.step(list, forward),
        (None, Some(at)) => {
            let round = Round::begin(list.clone(), at);
            round.and_then(|round| round.step(list, forward))
        }
        (None, None) => Round::begin(list, 0),
    };
    let Some(link) = round.as_ref().and_then(Round::link).cloned() else {
        state.notice = Some("no problems found".to_owned());
        return;
    };
    // Stepping counts as one visit: the way back leads to its start.
    if state.record.is_some() {
        show(state, link);
    } else {
        open(state, link);
    }
    state.visit.round = round;
}

/// The position of the open record in the triage list.
fn stands(state: &State, list: &[Thing]) -> Option<usize> {
    let subject = &state.record.as_ref()?.subject;
    list.iter().position(|thing| thing.is(subject))
}

/// An alert is open: it is a place among the problems of now, from which the user may step on.
fn begin_round(state: &mut State) {
    let open = state.record.as_ref();
    let is_alert = open.is_some_and(|open| matches!(open.subject, Link::Alert(..)));
    state.visit.round = is_alert.then(|| triage::list(state)).and_then(|list| {
        let at = stands(state, &list)?;
        Round::begin(list, at)
    });
}

/// Looks whether the open record is still a problem, and why.
pub(super) fn restep(state: &mut State) {
    let Some(mut round) = state.visit.round.take() else {
        return;
    };
    if let Some(open) = &state.record {
        round.rename(&open.subject);
    }
    round.look(&triage::list(state));
    state.visit.round = Some(round);
}

/// The place of the open record among the problems: `3 of 9 problems: ready 212ms`; `None` if it is
/// none of them, or if it is no alert and the user has not stepped there.
pub(crate) fn problem(state: &State) -> Option<String> {
    let open = state.record.as_ref()?;
    let gone = match open.subject {
        Link::Alert(..) => "resolved",
        _ => "no longer one",
    };
    state.visit.round.as_ref().map(|round| round.told(gone))
}

/// Opens the record of the selected row; of an await point, that of what is waited for there.
pub(super) fn of_row(state: &mut State) {
    let table = state.table();
    let Some(at) = table.selected() else { return };
    if let Some((link, told)) = awaited::of_row(state, at) {
        open(state, link);
        told.into_iter().for_each(|told| state.say(told));
    } else if let Some(link) = table.link(at) {
        open(state, link);
    }
}

/// Opens a record in place of the current view.
pub(super) fn open(state: &mut State, link: Link) {
    let here = here(state);
    if here
        .record
        .as_ref()
        .is_some_and(|open| open.subject == link)
    {
        return;
    }
    state.visit.history.leave(here);
    show(state, link);
}

/// Shows the available data of a record until its own rows arrive.
fn show(state: &mut State, link: Link) {
    let mut record = Record::new(link);
    let known = record.find(&state.beside());
    state.visit.near = None;
    if !known {
        record.find(&state.beside());
    }
    state.record = Some(record);
    begin_round(state);
}

/// Opens a table in place of the current view.
pub(super) fn open_table(state: &mut State, view: View) {
    if state.record.is_some() || state.view != view {
        let here = here(state);
        state.visit.history.leave(here);
    }
    state.record = None;
    state.visit.near = None;
    state.visit.round = None;
    state.view = view;
    resort(state);
}

fn here(state: &State) -> Stop {
    Stop {
        view: state.view,
        record: state.record.clone(),
    }
}

/// Goes back `steps` places.
pub(super) fn back(state: &mut State, steps: usize) {
    for _ in 0..steps {
        travel(state, History::return_from);
    }
}

pub(super) fn forward(state: &mut State) {
    travel(state, History::advance_from);
}

fn travel(state: &mut State, way: fn(&mut History, Stop) -> Option<Stop>) {
    let here = here(state);
    let Some(there) = way(&mut state.visit.history, here) else {
        state.notice = Some("no further history in this direction".to_owned());
        return;
    };
    state.view = there.view;
    state.record = there.record;
    state.visit.near = None;
    begin_round(state);
    if let Some(open) = &mut state.record {
        // Changes since then are shown.
        open.absent = None;
    }
    resort(state);
}

/// New rows have arrived: shows the current or last state of the record, with the same link
/// selected.
pub(super) fn follow(state: &mut State) {
    let Some(mut open) = state.record.take() else {
        return;
    };
    let selected = {
        state.record = Some(open.clone());
        let lines = record::lines(state);
        let links = record::links(&lines);
        links.get(open.link).map(|&(.., link)| link.clone())
    };
    let there = open.find(&state.beside());
    let known = open.kept != RecordRow::Nothing;
    let later = |alert| record::is_told_later(state, alert);
    let is_later = open.alert().is_some_and(later);
    open.absent = absence(state, &open.subject).filter(|_| !there && known && !is_later);
    state.record = Some(open);
    let Some(selected) = selected else { return };
    let lines = record::lines(state);
    let links = record::links(&lines);
    let Some(open) = &mut state.record else {
        return;
    };
    let same = links
        .iter()
        .enumerate()
        .filter(|(_, (.., link))| **link == selected);
    let nearest = same.min_by_key(|(at, _)| at.abs_diff(open.link));
    if let Some((at, _)) = nearest {
        open.link = at;
    }
}

/// The history of the open record has arrived, unless another one is wanted by now.
pub(super) fn history(
    state: &mut State,
    query: &HistoryQuery,
    history: Result<Box<SubjectHistory>, String>,
) {
    if record::history_query(state).as_ref() != Some(query) {
        return;
    }
    if let Some(open) = &mut state.record {
        open.history = Some(history.map(|history| *history));
    }
}

/// The reason why a subject is not among the available rows; `None` if these are not the requested
/// ones.
fn absence(state: &State, subject: &Link) -> Option<Absent> {
    let near = || state.visit.near.as_deref();
    let left_out = match subject {
        // All of them are sent, whatever was requested.
        Link::Alert(..) => 0,
        Link::Task { .. } => near()?.tasks.left_out(),
        Link::Resource { .. } => near()?.resources.left_out(),
        Link::Proc(_) => near()?.procs.left_out(),
    };
    Some(Absent::from_all(left_out == 0))
}

/// Performs an action while a record is open.
pub(super) fn act(state: &mut State, action: Action) {
    match action {
        Action::Back => back(state, 1),
        Action::Accept => follow_link(state),
        _ => walk(state, action),
    }
}

/// Moves to the next link, and beyond the last link by one line of text; page keys scroll the text.
fn walk(state: &mut State, action: Action) {
    let lines = record::lines(state);
    let links = record::links(&lines);
    let height = record::height(state, lines.len());
    let last = lines.len().saturating_sub(height);
    let Some(open) = &mut state.record else {
        return;
    };
    let to = |at: usize, by: isize, last: usize| at.saturating_add_signed(by).min(last);
    let scrolled = |open: &Record, by| to(open.scroll.min(last), by, last);
    match (action, stride(action, height)) {
        (Action::Down | Action::Up, Some(Stride::By(by))) if !links.is_empty() => {
            let at = open.link.min(links.len() - 1);
            let next = to(at, by, links.len() - 1);
            if next == at {
                open.scroll = scrolled(open, by);
                return;
            }
            open.link = next;
            let line = links[next].0;
            let least = (line + 1).saturating_sub(height.max(1));
            open.scroll = open.scroll.clamp(least, line).min(last);
        }
        (_, Some(Stride::By(by))) => open.scroll = scrolled(open, by),
        (_, Some(Stride::First)) => (open.scroll, open.link) = (0, 0),
        (_, Some(Stride::Last)) => {
            (open.scroll, open.link) = (record::END, links.len().saturating_sub(1));
        }
        (_, None) => {}
    }
}

/// Opens what the selected link leads to.
fn follow_link(state: &mut State) {
    let lines = record::lines(state);
    let links = record::links(&lines);
    let selected = state.record.as_ref().map_or(0, |open| open.link);
    let link = links.get(selected.min(links.len().saturating_sub(1)));
    let Some(link) = link.map(|&(.., link)| link.clone()) else {
        state.notice = Some("no link here".to_owned());
        return;
    };
    let own = state
        .record
        .as_ref()
        .is_some_and(|open| triage::same(&open.subject, &link));
    if own {
        state.notice = Some("its record is already open".to_owned());
        return;
    }
    open(state, link);
}
