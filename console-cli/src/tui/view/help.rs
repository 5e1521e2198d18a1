//! A help page, drawn over the screen.

use ratatui::Frame;
use ratatui::style::Style;

use super::frame::Framed;
use crate::tui::state::{HelpPage, State};
use crate::tui::{help, layout};

const WIDTH: u16 = 80;

pub(super) fn draw(state: &State, page: HelpPage, scroll: usize, frame: &mut Frame<'_>) {
    let lines = help::lines(state, page);
    let title = match page {
        HelpPage::Columns => format!("help: columns of {}", state.view.title()),
        page => format!("help: {}", page.word()),
    };
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX);
    let framed = Framed {
        state,
        area: layout::overlay(state.size, (WIDTH, height)),
    };
    let below = lines.len().saturating_sub(scroll + framed.lines());
    let more = if below > 0 {
        format!("j: {below} more below")
    } else {
        String::new()
    };
    framed.draw(frame, &title, &help::close(page), &more);
    for (at, line) in lines.iter().skip(scroll).enumerate() {
        framed.put(frame, at, line, Style::new());
    }
}
