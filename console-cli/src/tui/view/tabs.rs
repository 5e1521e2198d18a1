//! The views that exist, with the number of their rows, and the order and filter of the open one.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use turbowish_model::units;

use super::{put, text};
use crate::tui::rows::Order;
use crate::tui::state::{State, View};
use crate::tui::theme::Role;

pub(super) fn draw(state: &State, frame: &mut Frame<'_>, area: Rect) {
    let palette = state.look.palette;
    let mut spans = Vec::new();
    for view in View::ALL {
        let label = format!("{} {} {}", view.digit(), view.title(), count(state, view));
        spans.push(if view == state.view {
            Span::styled(format!(" [{label}]"), palette.style(Role::Title))
        } else {
            Span::raw(format!("  {label} "))
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

/// `55`, or `12 of 55` under a filter.
fn count(state: &State, view: View) -> String {
    let table = state.tables.of(view);
    let counts = table.counts();
    if table.filter().is_empty() || view != state.view {
        units::count(counts.total)
    } else {
        format!(
            "{} of {}",
            units::count(counts.matched),
            units::count(counts.total)
        )
    }
}

/// The filter, and the order where no column says it.
fn order(state: &State) -> String {
    let table = state.table();
    let mut words = Vec::new();
    if !table.filter().is_empty() {
        words.push(format!("/{}", text::fit(table.filter(), 24)));
    }
    let Order { key, invert } = table.order();
    if table.own_order().is_some_and(|own| own.key == key) {
        words.push(format!("{key} {}", if *invert { "last" } else { "first" }));
    }
    words.join("  ")
}
