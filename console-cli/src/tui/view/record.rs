//! A record, in place of header and table: the path to it, and its lines.

use ratatui::Frame;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::put;
use crate::detail::rich_line::{Kind, RichLine};
use crate::text;
use crate::theme::{Palette, Role};
use crate::tui::layout::{self, Parts};
use crate::tui::mutes;
use crate::tui::record::{self, Record};
use crate::tui::state::State;
use crate::tui::update;

pub(super) fn draw(state: &State, open: &Record, frame: &mut Frame<'_>, parts: &Parts) {
    put(frame, parts.crumb, 0, crumb(state, open, parts.crumb.width));
    let lines = record::lines(state);
    let links = record::links(&lines);
    let selected = links.get(open.link.min(links.len().saturating_sub(1)));
    let selected = selected.map(|&(line, part, _)| (line, part));
    let height = layout::record_rows(state.size, lines.len());
    let scroll = open.scroll.min(lines.len().saturating_sub(height));
    for (at, told) in lines.iter().enumerate().skip(scroll).take(height) {
        let here = selected
            .filter(|(line, _)| *line == at)
            .map(|(_, part)| part);
        put(
            frame,
            parts.body,
            at - scroll,
            line(state, open, told, here),
        );
    }
    let below = lines.len().saturating_sub(scroll + height);
    let last = usize::from(parts.body.height).saturating_sub(1);
    if below > 0 {
        let told = format!(" ... {below} more below (PgDn)");
        put(frame, parts.body, last, Line::from(told));
    } else if scroll > 0 {
        let told = format!(" ... {scroll} above (PgUp)");
        put(frame, parts.body, last, Line::from(told));
    }
}

/// One line. The selected part is highlighted, and a mark shows the line that it is in.
pub(super) fn line(
    state: &State,
    open: &Record,
    told: &RichLine,
    selected: Option<usize>,
) -> Line<'static> {
    let palette = state.look.palette;
    let style = |kind: &Kind| match kind {
        _ if open.absent.is_some() => palette.style(Role::Dim),
        Kind::Plain => Style::new(),
        Kind::Title | Kind::Label => palette.style(Role::Title),
        Kind::Link(_) => palette.style(Role::Link),
    };
    let spans = told.parts.iter().enumerate().map(|(at, part)| {
        let mut text = part.text.clone();
        // The first column of every line is reserved for the mark.
        if at == 0 && selected.is_some() && text.starts_with(' ') {
            text.replace_range(..1, state.look.glyphs.selection.encode_utf8(&mut [0; 4]));
        }
        let style = style(&part.kind);
        let style = match selected == Some(at) {
            true => style.patch(Palette::selected()),
            false => style,
        };
        Span::styled(text, style)
    });
    Line::from(spans.collect::<Vec<_>>())
}

/// Minimal width of the path to a record, in columns.
const WAY: usize = 24;

/// ` Alerts > deadlock > snapshot                                task`
fn crumb(state: &State, open: &Record, width: u16) -> Line<'static> {
    let palette = state.look.palette;
    let end = text::head(
        &standing(state, open),
        usize::from(width).saturating_sub(WAY),
    );
    let room = usize::from(width).saturating_sub(text::width(&end) + 3);
    let words = record::crumbs(state);
    let mut told = RichLine::from(" ");
    let last = words.len().saturating_sub(1);
    for (at, (word, _)) in words.into_iter().enumerate() {
        if at > 0 {
            told = told.say(" > ");
        }
        told = match at == last {
            true => told.title(word),
            false => told.label(word),
        };
    }
    told.cut(room);
    let spans = told.parts.into_iter().map(|part| match part.kind {
        Kind::Label => Span::styled(part.text, palette.style(Role::Link)),
        _ => Span::raw(part.text),
    });
    let begin = Line::from(spans.collect::<Vec<_>>());
    text::apart(begin, Line::from(end), usize::from(width))
}

/// The place among the problems, or the kind of the subject: `3 of 9 problems: ready 212ms   n
/// next`, `task, ended`.
fn standing(state: &State, open: &Record) -> String {
    let left = |alert| state.visit.mutes.left(alert, state.now.mono_ns);
    let place = update::problem(state).map(|place| format!("{place}   n next"));
    match (open.alert(), open.absent) {
        (Some(alert), _) => {
            let muted = left(alert).map_or_else(String::new, |left| mutes::word(left) + "   ");
            let is_over = alert.is_over() || open.absent.is_some();
            match (record::is_told_later(state, alert), place) {
                (true, _) => "noticed later   n next".to_owned(),
                (false, Some(place)) => muted + &place,
                (false, None) if is_over => muted + "resolved   n next",
                (false, None) => muted + "n next",
            }
        }
        (None, Some(absent)) => format!("{}, {}", open.word(), absent.word()),
        (None, None) => place.unwrap_or_else(|| open.word().to_owned()),
    }
}
