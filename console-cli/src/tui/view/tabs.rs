//! The available views with their numbers of rows, and the order and filter of the open one.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{put, text};
use crate::theme::Role;
use crate::tui::hit_test;
use crate::tui::rows::Order;
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
            Line::from(order(state)),
            usize::from(area.width),
        ),
    );
}

/// The filter, and the order if no column shows it.
fn order(state: &State) -> String {
    let table = state.table();
    let mut words = Vec::new();
    if !table.filter().is_empty() {
        words.push(format!("/{}", text::fit(table.filter(), 24)));
    }
    if let Some(grouping) = table.grouping() {
        words.push(format!("by {grouping}"));
    }
    let Order { key, invert } = table.order();
    if table.own_order().is_some_and(|own| own.key == key) {
        words.push(format!("{key} {}", if *invert { "last" } else { "first" }));
    }
    words.join("  ")
}
