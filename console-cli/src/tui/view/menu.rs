//! The sort menu: the columns with their meaning, filtered by the typed text.

use ratatui::Frame;
use ratatui::style::Style;

use super::frame::Framed;
use super::text;
use crate::theme::Palette;
use crate::tui::layout;
use crate::tui::rows::Face;
use crate::tui::state::State;
use crate::tui::update;

const WIDTH: u16 = 76;

pub(super) fn draw(state: &State, typed: &str, at: usize, frame: &mut Frame<'_>) {
    let entries = update::menu(state, typed);
    let wanted = u16::try_from(entries.len().max(1) + 2).unwrap_or(u16::MAX);
    let (width, height) = state.size;
    // The hint line stays visible.
    let area = layout::overlay((width, height.saturating_sub(1)), (WIDTH, wanted));
    let framed = Framed { state, area };
    let lines = framed.lines();
    let first = (at + 1).saturating_sub(lines);
    let below = entries.len().saturating_sub(first + lines);
    let more = if below > 0 {
        format!("{below} more below")
    } else {
        String::new()
    };
    let title = format!("sort {} by: {typed}", state.view.title());
    framed.draw(frame, title.trim_end(), "type to narrow", &more);
    if entries.is_empty() {
        framed.put(frame, 0, "   no column matches", Style::new());
    }
    for (line, (position, face)) in entries.iter().enumerate().skip(first).enumerate() {
        let selected = position == at;
        let style = if selected {
            Palette::selected()
        } else {
            Style::new()
        };
        framed.put(frame, line, &entry(state, face, selected), style);
    }
}

/// `>v LONGEST    longest poll`
fn entry(state: &State, face: &Face, selected: bool) -> String {
    let glyphs = state.look.glyphs;
    let order = state.table().order();
    let mark = match (order.key == face.key, face.unit.is_number() != order.invert) {
        (false, _) => ' ',
        (true, true) => glyphs.sorted_down,
        (true, false) => glyphs.sorted_up,
    };
    let selection = if selected { glyphs.selection } else { ' ' };
    format!(
        "{selection}{mark} {} {}",
        text::left(face.title, 10),
        face.meaning
    )
}
