//! The preview of the selected row, between the table and the detail line.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{put, record, text};
use crate::theme::Role;
use crate::tui::preview::{self, GAP};
use crate::tui::state::State;

pub(super) fn draw(state: &State, frame: &mut Frame<'_>, area: Rect) {
    if area.height == 0 {
        return;
    }
    let Some(open) = preview::record(state) else {
        put(frame, area, 0, title(state, "preview", area));
        let told = match state.table().selected() {
            Some(row) if state.table().is_folded(row).is_none() => "   this row has no record",
            Some(_) => "   a group has no record; l unfolds it",
            None => "   no row is selected",
        };
        return put(frame, area, 1, Line::from(told));
    };
    let pages = preview::pages(state, &open, area);
    let name = format!("preview: {}", open.name());
    put(frame, area, 0, title(state, &name, area));
    let width = preview::width(area);
    let page = |x: u16| Rect { x, width, ..area };
    for (at, told) in pages.left.iter().enumerate() {
        put(
            frame,
            page(area.x),
            at + 1,
            record::line(state, &open, told, None),
        );
    }
    let right = area.x + width + GAP;
    for (at, told) in pages.right.iter().enumerate() {
        put(
            frame,
            page(right),
            at + 1,
            record::line(state, &open, told, None),
        );
    }
    let last = usize::from(area.height) - 1;
    if pages.more > 0 {
        let told = format!(
            " ... {} more lines (Enter opens the record)",
            pages.more + 1
        );
        put(
            frame,
            page(right),
            last,
            Line::from(text::left(&told, usize::from(width))),
        );
    }
    let side = state.look.glyphs.vertical.to_string();
    for at in 1..=last {
        put(
            frame,
            page(area.x + width + 1),
            at,
            Line::from(side.clone()),
        );
    }
}

/// `-- preview: kv::snapshot::write ------------`
fn title(state: &State, words: &str, area: Rect) -> Line<'static> {
    let rule = |cells: usize| state.look.glyphs.horizontal.to_string().repeat(cells);
    let room = usize::from(area.width);
    let words = text::head(&format!(" {words} "), room.saturating_sub(4));
    let rest = room.saturating_sub(2 + text::width(&words));
    let style = state.look.palette.style(Role::Title);
    Line::from(Span::styled(
        format!("{}{words}{}", rule(2), rule(rest)),
        style,
    ))
}
