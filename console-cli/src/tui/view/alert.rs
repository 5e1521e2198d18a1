//! Row 2 says what is wrong with the data themselves, and is blank when nothing is.

use ratatui::Frame;
use ratatui::text::{Line, Span};
use turbowish_model::snapshot::{Accounting, Lost};
use turbowish_model::units::{self, SECOND};

use super::put;
use crate::tui::layout::{Form, Screen};
use crate::tui::state::{Fate, Phase, State};
use crate::tui::theme::Role;

pub(super) fn draw(state: &State, frame: &mut Frame<'_>, screen: &Screen) {
    let line = match (&state.notice, advice(state)) {
        (Some(notice), _) => Line::from(Span::styled(format!("! {notice}"), warning(state))),
        (None, Some((what, todo))) => {
            if screen.form != Form::Tiny {
                put(frame, screen.header, 0, Line::from(todo));
            }
            Line::from(what)
        }
        (None, None) => Line::from(Span::styled(lost(state), warning(state))),
    };
    put(frame, screen.alert, 0, line);
}

fn warning(state: &State) -> ratatui::style::Style {
    state.look.palette.style(Role::Warning)
}

/// What is, and what to do, while the values shown are not those of now.
pub(super) fn advice(state: &State) -> Option<(String, String)> {
    let shown = state.shown.as_ref()?;
    let pid = shown.process.pid;
    match state.phase() {
        Phase::Gone { .. } => Some((
            " The process ended. Values below are its last ones.".to_owned(),
            " Do: start it again, this screen follows the same command line.  0 picks another"
                .to_owned(),
        )),
        Phase::Stale { ns } => {
            let (why, first) = match &state.link.fate {
                Fate::Stopped => (
                    "the process is stopped (SIGSTOP)".to_owned(),
                    format!("kill -CONT {pid}.   (reconnects by itself"),
                ),
                Fate::Refused(reason) => (reason.clone(), "wait (reconnects by itself".to_owned()),
                _ => (
                    "it does not answer".to_owned(),
                    "wait (reconnects by itself".to_owned(),
                ),
            };
            let tries = match state.link.tries {
                0 => String::new(),
                tries => format!(", try {tries}"),
            };
            let clock = state.now.time_of_day(shown.at_unix_ns);
            Some((
                format!(
                    " No data for {} s: {why}. Values below: {clock}.",
                    ns / SECOND
                ),
                format!(" Do: {first}{tries}; 0 picks another process)"),
            ))
        }
        _ if shown.process.accounting == Accounting::Disarmed => {
            let since = state
                .now
                .time_of_day(shown.process.accounting_since_unix_ns);
            Some((
                format!(" Accounting is off: it was disarmed at {since}. The tables end there."),
                " Do: press a to arm it now.      (TURBOWISH=off: restart it with TURBOWISH=on)"
                    .to_owned(),
            ))
        }
        _ => None,
    }
}

/// `! lost: 12 tasks beyond the limit`
fn lost(state: &State) -> String {
    let Some(shown) = &state.shown else {
        return String::new();
    };
    let Lost {
        tasks,
        procs,
        late_attach,
        orphan_end,
        forced_pop,
        clock_backwards,
    } = shown.lost;
    let switched = shown.process.accounting_since_unix_ns;
    let recent = shown.at_unix_ns.saturating_sub(switched) < 60 * SECOND;
    // After accounting was switched on these are as they must be: said for a minute, then only counted.
    let at_switch = |n: u64| if recent { n } else { 0 };
    let reasons = [
        (tasks, "tasks beyond the limit have no row"),
        (procs, "procs beyond the limit are not accounted"),
        (at_switch(late_attach), "calls began before accounting"),
        (at_switch(orphan_end), "polls began before accounting"),
        (forced_pop, "polls did not end in order"),
        (clock_backwards, "readings of a clock that went back"),
    ];
    let told: Vec<String> = reasons
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{} {what}", units::count(n)))
        .collect();
    if told.is_empty() {
        String::new()
    } else {
        format!("! lost: {}", told.join(", "))
    }
}
