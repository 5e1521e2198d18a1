//! The list of the user's processes that run TurboWish.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use turbowish_model::snapshot::column;
use turbowish_model::snapshot::units::{self, Micro};
use turbowish_model::snapshot::{Accounting, Snapshot, report};

use super::{alert, hints, put, text};
use crate::commands::ps;
use crate::theme::{Palette, Role};
use crate::tui::layout::ScreenLayout;
use crate::tui::state::{Listed, Peer, Picker, State};
use crate::tui::update;

/// Width of the number of alerts, in columns.
const ALERTS: usize = 9;

pub(super) fn draw(state: &State, picker: &Picker, frame: &mut Frame<'_>, screen: &ScreenLayout) {
    let width = usize::from(state.size.0);
    let bold = state.look.palette.style(Role::Title);
    let all = state.listed.as_deref().unwrap_or_default().len();
    let listed = update::kept(state, picker);
    let filtered = match picker.filter.is_empty() {
        true => String::new(),
        false => format!("  {} of them match", listed.len()),
    };
    let title = Line::from(vec![
        Span::styled(" turbowish", bold),
        Span::raw(headline(state.listed.is_some(), all) + &filtered),
    ]);
    let clock = state.now.time_of_day(state.now.unix_ns);
    put(
        frame,
        screen.title,
        0,
        text::apart(title, Line::from(clock), width),
    );
    let area = frame.area();
    let body = Rect {
        y: area.y + 2,
        height: area.height.saturating_sub(4),
        ..area
    };
    list(state, &listed, picker.selected.as_ref(), frame, body);
    let last = Rect {
        y: area.bottom().saturating_sub(1),
        height: 1.min(area.height),
        ..area
    };
    let line = last_line(state, picker, frame, last);
    put(frame, last, 0, line);
}

/// The keys, preceded by the text being typed.
fn last_line(state: &State, picker: &Picker, frame: &mut Frame<'_>, at: Rect) -> Line<'static> {
    let width = usize::from(at.width);
    if !picker.typing && picker.filter.is_empty() {
        let hint = Line::from(hints::line(state, width));
        let told = Line::from("new processes appear automatically");
        return text::apart(hint, told, width);
    }
    let label = " filter: ";
    let shown = text::tail(&picker.filter, width.saturating_sub(label.len() + 1));
    let cursor = label.len() + text::width(&shown);
    if picker.typing {
        frame.set_cursor_position(Position {
            x: at.x + u16::try_from(cursor).unwrap_or(0),
            y: at.y,
        });
    }
    let hint = hints::line(state, width.saturating_sub(cursor + 3));
    text::apart(
        Line::from(format!("{label}{shown}")),
        Line::from(hint),
        width,
    )
}

/// The titles, and as many processes around the selected one as fit.
fn list(
    state: &State,
    listed: &[&Listed],
    selected: Option<&Peer>,
    frame: &mut Frame<'_>,
    body: Rect,
) {
    let width = usize::from(body.width);
    let bold = state.look.palette.style(Role::Title);
    let name = name_width(listed);
    let titles = format!(
        "   {} {:>7} {:>6} {} {:>6} {:>5} {} COMMAND",
        text::left("NAME", name),
        "PID",
        "UP",
        text::left("STATE", 8),
        "POLLS%",
        "TASKS",
        text::left("ALERTS", ALERTS),
    );
    put(frame, body, 0, Line::from(Span::styled(titles, bold)));
    let at = selected
        .and_then(|peer| listed.iter().position(|listed| listed.peer.is(peer)))
        .unwrap_or(0);
    let rows = usize::from(body.height).saturating_sub(1);
    let first = (at + 1).saturating_sub(rows);
    for (line, (position, listed)) in listed.iter().enumerate().skip(first).take(rows).enumerate() {
        let (mark, style) = if position == at {
            (state.look.glyphs.selection, Palette::selected())
        } else {
            (' ', Style::new())
        };
        let row = row(mark, listed, name, state.look.glyphs.micro);
        let row = text::left(&text::head(&row, width), width);
        put(frame, body, line + 1, Line::from(Span::styled(row, style)));
    }
}

fn headline(looked: bool, listed: usize) -> String {
    match listed {
        _ if !looked => "  looking for processes".to_owned(),
        0 => "  none of your processes runs TurboWish".to_owned(),
        1 => "  1 of your processes runs TurboWish".to_owned(),
        n => format!("  {n} of your processes run TurboWish"),
    }
}

fn row(mark: char, listed: &Listed, name_width: usize, micro: Micro) -> String {
    let pid = listed.peer.pid.map_or(String::new(), |pid| pid.to_string());
    let told = match &listed.answer {
        Ok(snapshot) => answered(snapshot, micro),
        Err(reason) => format!(
            "{:>6} {} {:>6} {:>5} {} {reason}",
            units::UNKNOWN,
            text::left(units::UNKNOWN, 8),
            units::UNKNOWN,
            units::UNKNOWN,
            text::left(units::UNKNOWN, ALERTS),
        ),
    };
    let name = listed
        .answer
        .as_ref()
        .map_or(units::UNKNOWN, |snapshot| snapshot.process.name.as_str());
    let worst = listed.answer.as_ref().ok();
    let worst = worst.and_then(|snapshot| column::worst(&snapshot.alerts.rows));
    let letter = worst.map_or(" ", |alert| alert::mark(alert.severity).0);
    format!(
        "{mark}{letter} {} {pid:>7} {told}",
        text::left(&text::head(name, name_width), name_width)
    )
}

/// Width of the names, up to a maximum, in columns.
fn name_width(listed: &[&Listed]) -> usize {
    let names = listed
        .iter()
        .filter_map(|listed| listed.answer.as_ref().ok());
    let widest = names
        .map(|snapshot| text::width(&snapshot.process.name))
        .max();
    widest.unwrap_or(0).clamp(4, 20)
}

/// Up, state, polls, tasks, alerts and command line of a process that answers.
fn answered(snapshot: &Snapshot, micro: Micro) -> String {
    let process = &snapshot.process;
    let armed = process.accounting == Accounting::Armed;
    let busy: u64 = snapshot.workers.iter().map(|worker| worker.busy_ns).sum();
    let unless_disarmed = |text: String| {
        if armed {
            text
        } else {
            units::NO_SAMPLE.to_owned()
        }
    };
    format!(
        "{:>6} {} {:>6} {:>5} {} {}",
        units::duration(process.uptime_ns, micro),
        text::left(if armed { "armed" } else { "disarmed" }, 8),
        unless_disarmed(units::share(units::ppb(busy, snapshot.window_ns))),
        unless_disarmed(units::count(report::covered(snapshot))),
        text::left(&ps::alerts(snapshot), ALERTS),
        base_name(&process.command),
    )
}

/// The command line without the folders of the program: processes differ in the text after them.
fn base_name(command: &str) -> &str {
    let program = command.split(' ').next().unwrap_or(command);
    let folders = program.rfind('/').map_or(0, |at| at + 1);
    &command[folders..]
}
