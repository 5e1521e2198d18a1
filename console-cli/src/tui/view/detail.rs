//! The line below the table: more facts about the selected row.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{put, text};
use crate::theme::Role;
use crate::tui::state::State;

pub(super) fn draw(state: &State, frame: &mut Frame<'_>, area: Rect) {
    let table = state.table();
    let Some(row) = table.selected() else { return };
    let line = format!(" {}", table.detail(row, state.style()));
    let (end, role) = match table.absent(row) {
        Some(absent) => (format!("  ({})", absent.word()), Role::Dim),
        None => (String::new(), Role::Plain),
    };
    let room = usize::from(area.width).saturating_sub(end.len());
    let cut = text::head(&line, room) + &end;
    put(
        frame,
        area,
        0,
        Line::from(Span::styled(cut, state.look.palette.style(role))),
    );
}
