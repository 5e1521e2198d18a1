//! The column list: visible columns have a mark, and all are in their order in the table.

use ratatui::Frame;
use ratatui::style::Style;

use super::frame::Framed;
use super::text;
use crate::theme::Palette;
use crate::tui::layout;
use crate::tui::state::State;
use crate::tui::update;

const WIDTH: u16 = 76;

pub(super) fn draw(state: &State, at: usize, frame: &mut Frame<'_>) {
    let (faces, shown) = update::listed(state);
    let wanted = u16::try_from(faces.len() + 2).unwrap_or(u16::MAX);
    let (width, height) = state.size;
    // The hint line stays visible.
    let area = layout::overlay((width, height.saturating_sub(1)), (WIDTH, wanted));
    let framed = Framed { state, area };
    let lines = framed.lines();
    let first = (at + 1).saturating_sub(lines);
    let below = faces.len().saturating_sub(first + lines);
    let more = if below > 0 {
        format!("{below} more below")
    } else {
        String::new()
    };
    let title = format!("columns of {}", state.view.title());
    framed.draw(frame, &title, "shown first, in order", &more);
    for (line, (position, face)) in faces.iter().enumerate().skip(first).enumerate() {
        let selected = position == at;
        let mark = if selected {
            state.look.glyphs.selection
        } else {
            ' '
        };
        let check = if position < shown { 'x' } else { ' ' };
        let told = format!(
            "{mark}[{check}] {} {}",
            text::left(face.title, 10),
            face.meaning
        );
        let style = if selected {
            Palette::selected()
        } else {
            Style::new()
        };
        framed.put(frame, line, &told, style);
    }
}
