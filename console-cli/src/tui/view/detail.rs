//! The line below the table: more facts about the selected row.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use turbowish_model::snapshot::alert::Alert;
use turbowish_model::snapshot::units;

use super::{put, text};
use crate::theme::Role;
use crate::tui::rows::RowId;
use crate::tui::state::State;

/// The width from which on both an alert and the row have room.
const WIDE: u16 = 110;

/// Lines that it has at most.
const MOST: u16 = 4;

/// Draws it at its place, and in lines above that are empty if one line is not enough.
pub(super) fn draw(state: &State, frame: &mut Frame<'_>, area: Rect) {
    let table = state.table();
    let Some(row) = table.selected().filter(|_| area.height > 0) else {
        return;
    };
    let mut line = table.detail(row, state.style());
    if let Some(told) = long_poll(state, row) {
        // A few letters of the rest are of no use.
        let rest = if area.width < WIDE { "" } else { &line };
        line = format!("{told}  {rest}");
    }
    let (end, role) = match table.absent(row) {
        Some(absent) => (format!("  ({})", absent.word()), Role::Dim),
        None => (String::new(), Role::Plain),
    };
    let room = usize::from(area.width).saturating_sub(end.len());
    let above = empty_above(frame, area).min(MOST - 1);
    let mut lines = facts(&line, room);
    let last = lines.len().saturating_sub(1).min(above.into());
    let rest = lines.split_off(last);
    lines.push(text::head(&rest.join(" "), room) + &end);
    let used = u16::try_from(lines.len()).unwrap_or(MOST);
    let area = Rect {
        y: (area.y + area.height).saturating_sub(used),
        height: used,
        ..area
    };
    for (at, line) in lines.into_iter().enumerate() {
        let span = Span::styled(line, state.look.palette.style(role));
        put(frame, area, at, Line::from(span));
    }
}

/// Lines of facts, which two blanks separate: a fact is on one line if it has room there.
fn facts(line: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for fact in line.split("  ").filter(|fact| !fact.is_empty()) {
        match lines.last_mut() {
            Some(last) if text::width(last) + 2 + text::width(fact) <= room => {
                last.push_str("  ");
                last.push_str(fact);
            }
            _ => lines.extend(text::wrap(fact, room)),
        }
    }
    lines
}

/// Number of empty lines above a place, but for one that stays so.
fn empty_above(frame: &mut Frame<'_>, area: Rect) -> u16 {
    let buffer = frame.buffer_mut();
    let is_empty = |y: &u16| {
        let mut cells = (area.left()..area.right()).map(|x| &buffer[(x, *y)]);
        cells.all(|cell| cell.symbol() == " ")
    };
    let empty = (0..area.y).rev().take_while(is_empty).count();
    u16::try_from(empty).unwrap_or(0).saturating_sub(1)
}

/// The worst poll in this row's function, whose share of the time is not only what its code
/// computed: `blocked worker w0 1.50 s, 4.20 s ago, off the processor: ! opens it`
fn long_poll(state: &State, row: usize) -> Option<String> {
    let (alert, at_unix_ns) = worst_poll(state, row)?;
    let time = |ns| units::duration(ns, state.style().micro);
    // The rest of the title names the function.
    let (begin, _) = alert.title.split_once(": ").unwrap_or((&alert.title, ""));
    let mut line = begin.to_owned();
    if let Some(ago) = alert.ended_ago(at_unix_ns) {
        line += &format!(", {} ago", time(ago));
    }
    let (off, of) = (off_cpu_ns(alert), alert.on_cpu_of_ns);
    // The part that was looked at says what the poll did in all.
    match off {
        0 => {}
        _ if off >= of - of / 10 => line += ", off the processor",
        _ if off >= of / 10 => {
            line += &format!(", {} of {} off the processor", time(off), time(of));
        }
        _ => {}
    }
    let first = state.headline()?;
    line += match std::ptr::eq(first, alert) {
        true => ": ! opens it",
        false => ": 5 lists it",
    };
    Some(line)
}

/// Whether the long polls in this row's function, which has this share of the window, were off the
/// processor for half of that time or more.
pub(super) fn slept(state: &State, row: usize, share_ppb: u64) -> bool {
    let Some((alert, at_unix_ns)) = worst_poll(state, row) else {
        return false;
    };
    let window_ns = state.shown.as_ref().map_or(0, |shown| shown.window_ns);
    let began = at_unix_ns.saturating_sub(window_ns);
    let times = alert.recent.iter();
    let recent = times.filter(|time| time.began_unix_ns.saturating_add(time.held_ns) > began);
    let mut polls: u64 = recent.map(|time| time.held_ns).sum();
    if alert.ended_ago(at_unix_ns).is_none() || alert.recent.is_empty() {
        polls += alert.lasted_ns();
    }
    // The part of a poll that was looked at stands for all of it.
    let asleep = u128::from(polls) * u128::from(off_cpu_ns(alert));
    let asleep = asleep / u128::from(alert.on_cpu_of_ns.max(1));
    let ran = u128::from(share_ppb) * u128::from(window_ns) / 1_000_000_000;
    2 * asleep >= ran && asleep > 0
}

/// The worst alert of the window about a poll in this row's function, and the time of the state.
fn worst_poll(state: &State, row: usize) -> Option<(&Alert, u64)> {
    let Some(RowId::Proc(path, ..)) = state.table().id(row) else {
        return None;
    };
    let shown = state.shown.as_ref()?;
    let concerns = |alert: &&Alert| {
        let ended_ago = alert.ended_ago(shown.at_unix_ns);
        let is_recent = ended_ago.is_none_or(|ago| ago <= shown.window_ns);
        let at = alert.at.as_ref();
        alert.is_in_poll() && is_recent && at.is_some_and(|at| at.proc == path)
    };
    let alert = state.all_heard().find(concerns)?;
    Some((alert, shown.at_unix_ns))
}

/// Time that its thread was not on a processor, as far as its poll was looked at.
fn off_cpu_ns(alert: &Alert) -> u64 {
    let on = alert.on_cpu_ns.unwrap_or(alert.on_cpu_of_ns);
    alert.on_cpu_of_ns.saturating_sub(on)
}
