//! Row 1: the process, whether accounting is armed, the window, and the age of the data.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use turbowish_model::snapshot::units::{self, SECOND};
use turbowish_model::snapshot::{Accounting, Snapshot};

use super::{put, text};
use crate::recording::before_end;
use crate::theme::Role;
use crate::tui::state::{Past, PeerState, Phase, State, Window};
use crate::tui::update;

/// Columns of the name of a recording.
const LONGEST_NAME: usize = 24;

pub(super) fn draw(state: &State, frame: &mut Frame<'_>, area: Rect) {
    let Some(shown) = &state.shown else { return };
    put(frame, area, 0, line(state, shown, usize::from(area.width)));
}

/// Parts in the order in which they are omitted when space is short; the badge stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Left {
    None,
    Clock,
    Window,
    Uptime,
    Pid,
}

fn line(state: &State, shown: &Snapshot, room: usize) -> Line<'static> {
    const ALL: [Left; 5] = [
        Left::None,
        Left::Clock,
        Left::Window,
        Left::Uptime,
        Left::Pid,
    ];
    let parts = |out| (process(state, shown, out), freshness(state, shown, out));
    let fits = |(begin, end): &(Line<'_>, Line<'_>)| begin.width() + end.width() + 1 < room;
    let mut lines = ALL.into_iter().map(parts);
    let (begin, end) = lines.find(fits).unwrap_or_else(|| parts(Left::Pid));
    let name = room.saturating_sub(end.width() + 2);
    let begin = match begin.width() > name {
        // Even the name is cut.
        true => Line::from(text::head(&begin.to_string(), name)),
        false => begin,
    };
    text::apart(begin, end, room)
}

/// ` kv  pid 4242  up 12m31s  armed`
fn process(state: &State, shown: &Snapshot, out: Left) -> Line<'static> {
    let style = |role| state.look.palette.style(role);
    let process = &shown.process;
    let name = format!(" {}", process.name);
    let mut spans = vec![Span::styled(name, style(Role::Title))];
    if out < Left::Pid {
        spans.push(Span::raw(format!("  pid {}", process.pid)));
    }
    if let PeerState::Ended { unix_ns } = state.link.fate {
        spans.push(Span::raw(format!(
            "  ended  {}",
            state.now.time_of_day(unix_ns)
        )));
        return Line::from(spans);
    }
    spans.push(Span::raw(match out < Left::Uptime {
        true => format!(
            "  up {}  ",
            units::duration(process.uptime_ns, state.look.glyphs.micro)
        ),
        false => "  ".to_owned(),
    }));
    match process.accounting {
        Accounting::Armed => spans.push(Span::raw("armed")),
        Accounting::Disarmed => {
            let since = state.now.time_of_day(process.accounting_since_unix_ns);
            spans.push(Span::styled("DISARMED", style(Role::BadgeWarning)));
            spans.push(Span::raw(format!(" since {since}")));
        }
    }
    if let Some(told) = update::progress(state) {
        spans.push(Span::raw("  "));
        spans.push(Span::styled(told, style(Role::Warning)));
    }
    if state.size.0 >= 120 {
        spans.push(Span::raw(format!("  {} workers", shown.workers.len())));
    }
    Line::from(spans)
}

/// `window 10 s  LIVE  17:04:31`
fn freshness(state: &State, shown: &Snapshot, out: Left) -> Line<'static> {
    let style = |role| state.look.palette.style(role);
    let clock = state.now.time_of_day(shown.at_unix_ns);
    if let Some(past) = &state.link.past {
        return recorded(state, past, &clock, out);
    }
    let window = Span::raw(match out < Left::Window {
        true => format!("window {}  ", window(state, shown)),
        false => String::new(),
    });
    let with_clock = |badge, clock: String| {
        let clock = Span::raw(clock);
        Line::from(match out < Left::Clock {
            true => vec![window, badge, clock],
            false => vec![window, badge],
        })
    };
    let seconds = |ns: u64| format!("{} s", ns / SECOND);
    let badge = match (state.phase(), state.pending.frozen_ns) {
        (Phase::Gone { ns }, _) => {
            Span::styled(format!("GONE {}", seconds(ns)), style(Role::BadgeWarning))
        }
        (Phase::Stale { ns }, _) => {
            Span::styled(format!("STALE {}", seconds(ns)), style(Role::BadgeWarning))
        }
        (_, Some(at)) => {
            let ago = seconds(state.now.mono_ns.saturating_sub(at));
            let badge = Span::styled("FROZEN", style(Role::BadgeCalm));
            return with_clock(badge, format!(" {clock}, {ago} ago"));
        }
        _ => Span::styled(live(state), style(Role::Live)),
    };
    with_clock(badge, format!("  {clock}"))
}

/// `x.tw  17:04:31  -12.3 s  (state 48 of 60)`
fn recorded(state: &State, past: &Past, clock: &str, out: Left) -> Line<'static> {
    let before = before_end(past.before_end_ns(), state.look.glyphs.micro);
    let badge = format!(
        "{}  {clock}  {before}",
        text::head(&past.name, LONGEST_NAME)
    );
    let mut spans = vec![Span::styled(
        badge,
        state.look.palette.style(Role::BadgeCalm),
    )];
    if out < Left::Uptime {
        spans.push(Span::raw(format!("  ({})", past.place())));
    }
    Line::from(spans)
}

/// `LIVE`, or `LIVE every 3 s` if the process's interval is longer than requested.
fn live(state: &State) -> String {
    let pace = state.pace_ns();
    if pace < state.interval_ns + SECOND / 2 {
        return "LIVE".to_owned();
    }
    format!("LIVE every {} s", pace.div_ceil(SECOND))
}

/// The requested window, and the length reached so far while it fills.
fn window(state: &State, shown: &Snapshot) -> String {
    let kept = match state.look.kept_window == Some(state.window) {
        true => " (kept)",
        false => "",
    };
    let Window(Some(ns)) = state.window else {
        return format!("since start{kept}");
    };
    let asked = units::window(ns, state.look.glyphs.micro);
    if shown.window_ns < ns - ns / 10 && shown.window_ns > 0 {
        let so_far = shown.window_ns.div_ceil(SECOND);
        format!("{so_far} s of {asked}{kept}")
    } else {
        format!("{asked}{kept}")
    }
}
