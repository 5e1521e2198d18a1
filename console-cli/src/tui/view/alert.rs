//! Row 2: a problem with the data if there is one, else the active alerts, or that there are none.

use ratatui::Frame;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use turbowish_model::snapshot::Accounting;
use turbowish_model::snapshot::alert::{Alert, Severity};
use turbowish_model::snapshot::column;
use turbowish_model::snapshot::units::{self, SECOND};

use super::put;
use crate::text;
use crate::theme::Role;
use crate::tui::layout::{HeaderForm, ScreenLayout};
use crate::tui::state::{PeerState, Phase, State};

/// The line; if data are missing, the line below names the remedy.
pub(super) fn draw(state: &State, frame: &mut Frame<'_>, screen: &ScreenLayout) {
    if let (None, Some((_, todo))) = (&state.notice, advice(state))
        && screen.form != HeaderForm::Tiny
    {
        put(frame, screen.header, 0, Line::from(todo));
    }
    draw_alone(state, frame, screen);
}

/// The line alone, if another view begins below it.
pub(super) fn draw_alone(state: &State, frame: &mut Frame<'_>, screen: &ScreenLayout) {
    let line = match (&state.notice, advice(state)) {
        (Some(notice), _) => Line::from(Span::styled(format!("! {notice}"), warning(state))),
        (None, _) if state.visit.news.is_some() => Line::from(format!(
            " {}",
            state.visit.news.as_deref().unwrap_or_default()
        )),
        (None, Some((what, _))) => Line::from(what),
        (None, None) => alerts(state),
    };
    put(frame, screen.alert, 0, line);
}

/// `X 1 alert  deadlock 41.2 s+: conn:51022, repl-1, snapshot wait in a cycle`; if a worse one is
/// over, `! 1 active: task leak, 1 resolved  42.0 s ago: blocked worker w1 1.50 s: ..run in one..`.
fn alerts(state: &State) -> Line<'static> {
    let lost = lost(state);
    let active = state.heard().next();
    if active.is_none() && !lost.is_empty() {
        return Line::from(Span::styled(lost, warning(state)));
    }
    let muted = match state.alerts().count() - state.heard().count() {
        0 => String::new(),
        n => format!(", {n} muted"),
    };
    let resolved = state.all_alerts().len() - state.alerts().count();
    let first = state.headline();
    let (counts, style) = match active {
        None => (format!(" no alerts{muted}"), Style::default()),
        Some(worst) => {
            let (mark, role) = mark(worst.severity);
            let counts = match resolved {
                0 => column::severity_counts(state.heard()),
                _ => active_ones(state, worst, first),
            };
            let style = state.look.palette.style(role);
            (format!("{mark} {counts}{muted}"), style)
        }
    };
    let named = match (first, state.visit.forecast) {
        (Some(named), _) => format!("  {}", sentence(state, named)),
        (None, Some(forecast)) => format!("; {forecast}"),
        (None, None) => String::new(),
    };
    let room = usize::from(state.size.0);
    let over = match resolved {
        0 => String::new(),
        n => format!(", {n} resolved"),
    };
    // The sentence says of the worst one that it is over.
    let says_so = active.is_some() && first.is_some_and(Alert::is_over);
    let counts = match counts.len() + over.len() + text::width(&named) > room && says_so {
        true => counts,
        false => counts + &over,
    };
    let named = text::fit_sentence(&named, room.saturating_sub(counts.len()));
    Line::from(vec![Span::styled(counts, style), Span::raw(named)])
}

/// `2 active`; `2 active: task leak +1` if the sentence after it is about one that is over and was
/// worse.
fn active_ones(state: &State, worst: &Alert, first: Option<&Alert>) -> String {
    let count = state.heard().count();
    if !first.is_some_and(Alert::is_over) {
        return format!("{count} active");
    }
    let more = match count {
        0 | 1 => String::new(),
        n => format!(" +{}", n - 1),
    };
    format!("{count} active: {}{more}", worst.pitfall.title())
}

/// `42.0 s ago: blocked worker w1 …` of an alert that is over.
fn sentence(state: &State, alert: &Alert) -> String {
    let at = state.shown.as_ref().map_or(0, |shown| shown.at_unix_ns);
    alert.dated_title(at, state.look.glyphs.micro)
}

/// The letter and the role of a severity.
pub(super) const fn mark(severity: Severity) -> (&'static str, Role) {
    match severity {
        Severity::Alert => ("X", Role::Alert),
        Severity::Warning => ("!", Role::Warning),
        Severity::Note => ("-", Role::Plain),
    }
}

fn warning(state: &State) -> Style {
    state.look.palette.style(Role::Warning)
}

/// The condition and the remedy while the displayed values are not current.
pub(super) fn advice(state: &State) -> Option<(String, String)> {
    let shown = state.shown.as_ref()?;
    let pid = shown.process.pid;
    match state.phase() {
        Phase::Gone { .. } => Some((
            " The process has ended. The values below are its last ones.".to_owned(),
            " Do: start it again with the same command line to reconnect; 0 picks another"
                .to_owned(),
        )),
        Phase::Stale { ns } => {
            let (why, first) = match &state.link.fate {
                PeerState::Stopped => (
                    "the process is stopped (SIGSTOP)".to_owned(),
                    format!("kill -CONT {pid}.   (reconnects automatically"),
                ),
                PeerState::Refused(reason) => {
                    (reason.clone(), "wait (reconnects automatically".to_owned())
                }
                _ => (
                    "no answer".to_owned(),
                    "wait (reconnects automatically".to_owned(),
                ),
            };
            let tries = match state.link.tries {
                0 => String::new(),
                tries => format!(", attempt {tries}"),
            };
            let clock = state.now.time_of_day(shown.at_unix_ns);
            Some((
                format!(" No data for {} s: {why}. Last data: {clock}.", ns / SECOND),
                format!(" Do: {first}{tries}; 0 picks another process)"),
            ))
        }
        Phase::Past if shown.process.accounting == Accounting::Disarmed => {
            let since = state
                .now
                .time_of_day(shown.process.accounting_since_unix_ns);
            Some((
                format!(" Accounting was disarmed at {since}. The tables show values until then."),
                " Nothing to do: this is a recording.".to_owned(),
            ))
        }
        _ if shown.process.accounting == Accounting::Disarmed => {
            let since = state
                .now
                .time_of_day(shown.process.accounting_since_unix_ns);
            Some((
                format!(" Accounting was disarmed at {since}. The tables show data until then."),
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
    let switched = shown.process.accounting_since_unix_ns;
    let recent = shown.at_unix_ns.saturating_sub(switched) < 60 * SECOND;
    // These are expected after arming: they are reported for a minute, then only counted.
    let reasons = shown.lost.reasons();
    let told: Vec<String> = reasons
        .filter(|(_, reason)| recent || !reason.at_switch)
        .map(|(n, reason)| format!("{} {}", units::count(n), reason.what(n)))
        .collect();
    if told.is_empty() {
        String::new()
    } else {
        format!("! lost: {}", told.join(", "))
    }
}
