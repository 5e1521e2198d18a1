//! The titles of a table's columns; a mark shows the sort column and direction.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use turbowish_model::snapshot::column::Unit;

use super::text;
use crate::theme::Role;
use crate::tui::layout::{GUTTER, Placed};
use crate::tui::state::State;

/// The position of the sort mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// After the title, inside its column.
    Inside,
    /// In the gap after a column that its title fills.
    Behind,
    /// In the gap before such a column if none follows.
    Before,
}

pub(super) fn line(state: &State, columns: &[Placed]) -> Line<'static> {
    let palette = state.look.palette;
    let order = state.table().order();
    let sorted = columns
        .iter()
        .position(|column| column.face.key == order.key);
    let place = sorted.map(|at| mark_place(&columns[at], at + 1 == columns.len()));
    let mark = sorted.map_or(' ', |at| {
        let down = columns[at].face.unit.is_number() != order.invert;
        let glyphs = state.look.glyphs;
        if down {
            glyphs.sorted_down
        } else {
            glyphs.sorted_up
        }
    });
    let mut spans = vec![Span::raw(" ".repeat(GUTTER))];
    for (at, column) in columns.iter().enumerate() {
        let here = sorted == Some(at);
        if at > 0 {
            let behind = sorted == Some(at - 1) && place == Some(Mark::Behind);
            let before = here && place == Some(Mark::Before);
            let gap = match (behind, before) {
                (true, _) => text::left(&mark.to_string(), column.gap),
                (_, true) => text::right(&mark.to_string(), column.gap),
                _ => " ".repeat(column.gap),
            };
            spans.push(Span::raw(gap));
        }
        let mut title = column.face.title.to_owned();
        if here && place == Some(Mark::Inside) {
            title.push(mark);
        }
        let role = if here { Role::Sorted } else { Role::Title };
        push(&mut spans, column, &title, palette.style(role));
    }
    Line::from(spans)
}

fn mark_place(column: &Placed, last: bool) -> Mark {
    match (column.is_full(), last) {
        (false, _) => Mark::Inside,
        (true, false) => Mark::Behind,
        (true, true) => Mark::Before,
    }
}

/// Only the words have the style: an underline must not extend through the blanks around them.
fn push(spans: &mut Vec<Span<'static>>, column: &Placed, title: &str, style: Style) {
    let title = text::head(title, column.width);
    let blanks = column.width.saturating_sub(text::width(&title));
    // The title of a value as wide as its column is above its beginning.
    let right = column.face.unit.is_number() && column.face.unit != Unit::Trend;
    let behind = match (right, column.opens()) {
        (true, true) => blanks.min(1),
        (true, false) => 0,
        (false, _) => blanks,
    };
    let bar = if column.bar > 0 { 1 + column.bar } else { 0 };
    spans.push(Span::raw(" ".repeat(blanks - behind)));
    spans.push(Span::styled(title, style));
    spans.push(Span::raw(" ".repeat(behind + bar)));
}
