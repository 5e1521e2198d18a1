//! The available views with their numbers of rows, and the order and filter of the open one.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{put, text};
use crate::theme::Role;
use crate::tui::hit_test;
use crate::tui::state::State;

pub(super) fn draw(state: &State, frame: &mut Frame<'_>, area: Rect) {
    let palette = state.look.palette;
    let mut spans = Vec::new();
    for (view, tab) in hit_test::tabs(state) {
        spans.push(match view == state.view {
            true => Span::styled(tab, palette.style(Role::Title)),
            false => Span::raw(tab),
        });
    }
    put(
        frame,
        area,
        0,
        text::apart(
            Line::from(spans),
            Line::from(hit_test::order(state)),
            usize::from(area.width),
        ),
    );
}
