//! Empty states: one line states the condition, and one line begins with "Do:".

use ratatui::Frame;
use ratatui::text::{Line, Span};
use turbowish_model::snapshot::units;
use turbowish_model::snapshot::{Accounting, Snapshot};

use super::{put, text};
use crate::theme::Role;
use crate::tui::layout::ScreenLayout;
use crate::tui::rows::AnyTable;
use crate::tui::state::{PeerState, Phase, State, View};

/// No process, or one that has sent nothing yet.
pub(super) fn draw(state: &State, frame: &mut Frame<'_>, screen: &ScreenLayout) {
    let (title, status, what, todo) = match state.phase() {
        Phase::Looking => looking(state),
        _ => connecting(state),
    };
    let width = usize::from(state.size.0);
    let bold = state.look.palette.style(Role::Title);
    let begin = Line::from(vec![Span::styled(" turbowish", bold), Span::raw(title)]);
    put(
        frame,
        screen.title,
        0,
        text::apart(begin, Line::from(status), width),
    );
    let area = frame.area();
    for (line, told) in text::wrap(&what, width)
        .into_iter()
        .chain(text::wrap(&todo, width))
        .enumerate()
    {
        put(frame, area, line + 2, Line::from(told));
    }
}

type Words = (String, String, String, String);

fn looking(state: &State) -> Words {
    if state.listed.is_none() {
        return (
            "  looking for processes".to_owned(),
            String::new(),
            String::new(),
            String::new(),
        );
    }
    (
        "  no process".to_owned(),
        "checking every 1 s".to_owned(),
        "None of your processes runs TurboWish.".to_owned(),
        "Do: start one with turbowish::init() in main, or try: turbowish demo".to_owned(),
    )
}

fn connecting(state: &State) -> Words {
    if let Some(past) = &state.link.past {
        let title = format!("  reading {}", past.name);
        return (title, String::new(), String::new(), String::new());
    }
    let whom = state
        .link
        .peer
        .as_ref()
        .map_or(String::new(), |peer| peer.target.to_string());
    let (what, todo) = match &state.link.fate {
        PeerState::Refused(reason) => (
            reason.clone(),
            "Do: wait (retries automatically); 0 picks another process, q quits".to_owned(),
        ),
        PeerState::Ended { .. } => (
            format!("There is no {whom}."),
            "Do: start it (retries automatically); 0 picks another process, q quits".to_owned(),
        ),
        PeerState::Stopped => (
            "The process is stopped (SIGSTOP).".to_owned(),
            match state.link.peer.as_ref().and_then(|peer| peer.pid) {
                Some(pid) => format!("Do: kill -CONT {pid}.   0 picks another process, q quits"),
                None => "Do: continue it.   0 picks another process, q quits".to_owned(),
            },
        ),
        _ => ("Waiting for the first data.".to_owned(), String::new()),
    };
    let tries = if state.link.tries > 0 {
        format!("attempt {}", state.link.tries)
    } else {
        String::new()
    };
    (format!("  connecting to {whom}"), tries, what, todo)
}

/// The process is armed, and no proc has ever registered.
pub(super) fn nothing_annotated(state: &State, shown: &Snapshot) -> bool {
    let known = shown.process.procs_known > 0 || state.tables.procs.counts().total > 0;
    shown.process.accounting == Accounting::Armed && !known
}

/// The view of resources is open, and no resource was ever used.
pub(super) fn no_resources(state: &State) -> bool {
    let table = &state.tables.resources;
    state.view == View::Resources && table.counts().total == 0 && table.filter().is_empty()
}

pub(super) fn draw_no_resources(state: &State, frame: &mut Frame<'_>, screen: &ScreenLayout) {
    let what = "No lock or channel of turbowish::sync has been used.";
    let todo = "Do: use turbowish::sync instead of tokio::sync (feature tokio)";
    tell(state, what, todo, frame, screen);
}

/// The view of alerts is open, and there are no alerts.
pub(super) fn no_alerts(state: &State) -> bool {
    let table = &state.tables.alerts;
    state.view == View::Alerts && table.counts().held == 0 && table.filter().is_empty()
}

pub(super) fn draw_no_alerts(state: &State, frame: &mut Frame<'_>, screen: &ScreenLayout) {
    let what = "No alert is active, and none was in the last ten minutes.";
    let todo = "Nothing to do. Detectors and thresholds: turbowish explain";
    tell(state, what, todo, frame, screen);
}

/// The view of counters is open, and the program has none.
pub(super) fn no_counters(state: &State) -> bool {
    let table = &state.tables.counters;
    state.view == View::Counters && table.counts().total == 0 && table.filter().is_empty()
}

pub(super) fn draw_no_counters(state: &State, frame: &mut Frame<'_>, screen: &ScreenLayout) {
    let what = "The program has counted nothing: no counter or gauge was used.";
    let todo = "Do: write turbowish::counter!(\"requests\") where something happens";
    tell(state, what, todo, frame, screen);
}

/// Both lines, in place of the table.
fn tell(state: &State, what: &str, todo: &str, frame: &mut Frame<'_>, screen: &ScreenLayout) {
    let width = usize::from(state.size.0);
    let lines = [what, todo].map(|text| text::wrap(text, width));
    for (line, told) in lines.into_iter().flatten().enumerate() {
        put(frame, screen.table, line, Line::from(told));
    }
}

pub(super) fn draw_unannotated(state: &State, frame: &mut Frame<'_>, screen: &ScreenLayout) {
    let tasks = match state
        .shown
        .as_ref()
        .and_then(|shown| shown.process.runtime_tasks)
    {
        Some(tasks) => format!(" {} tasks, 0 covered.", units::count(tasks)),
        None => String::new(),
    };
    let what = format!("Connected, but no annotated function has run yet.{tasks}");
    let todo = "Do: write #[turbowish::instrument] on an async fn, impl or mod, and run it";
    tell(state, &what, todo, frame, screen);
}
