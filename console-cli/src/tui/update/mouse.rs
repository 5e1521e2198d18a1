//! The mouse: a click selects, a second click opens, the header sorts, the wheel scrolls, the right
//! button goes back.

use super::{on_table, overlay, record, sort, touched};
use crate::tui::hit_test::{self, Hit};
use crate::tui::keys::Action;
use crate::tui::layout;
use crate::tui::message::{Effect, Mouse};
use crate::tui::rows::Order;
use crate::tui::state::{Overlay, State};

/// Rows that one step of the wheel moves.
const WHEEL: usize = 3;

/// Performs a mouse event.
pub(super) fn act(state: &mut State, event: Mouse) -> Option<Effect> {
    touched(state);
    match event {
        Mouse::Right => does(state, Action::Back),
        Mouse::WheelDown => roll(state, Action::Down),
        Mouse::WheelUp => roll(state, Action::Up),
        Mouse::Click(..) if state.overlay.is_some() => None,
        Mouse::Click(x, y) => {
            if let Some(hit) = hit_test::at(state, (x, y)) {
                click(state, hit);
            }
            None
        }
    }
}

/// The same as a key with that action.
fn does(state: &mut State, action: Action) -> Option<Effect> {
    match state.overlay {
        // The wheel must not answer a question.
        Some(Overlay::Question(_)) if action != Action::Back => None,
        Some(_) => overlay::act(state, action),
        None => on_table(state, action),
    }
}

fn roll(state: &mut State, action: Action) -> Option<Effect> {
    let lines = if state.record.is_some() { 1 } else { WHEEL };
    (0..lines).find_map(|_| does(state, action))
}

fn click(state: &mut State, hit: Hit) {
    match hit {
        Hit::Tab(view) => record::open_table(state, view),
        Hit::Alerts => record::worst_alert(state),
        Hit::Preview(link) => record::open(state, link),
        Hit::Crumb(steps) => record::back(state, steps),
        Hit::Link(at) => {
            if let Some(open) = &mut state.record {
                open.link = at;
            }
            record::act(state, Action::Accept);
        }
        Hit::Row(row) => {
            if state.table().selected() == Some(row) {
                on_table(state, Action::Accept);
            } else {
                let height = layout::table_rows(state);
                state.table_mut().select(row, height);
            }
        }
        Hit::Title(key) => {
            let now = state.table().order();
            let invert = now.key == key && !now.invert;
            sort(state, Order { key, invert });
        }
    }
}

/// Leaves the mouse to the terminal, or captures it again.
pub(super) fn switch(state: &mut State) -> Effect {
    state.look.mouse = !state.look.mouse;
    let told = if state.look.mouse {
        "mouse on; M turns it off"
    } else {
        "mouse off: the terminal selects text; M turns it on"
    };
    state.notice = Some(told.to_owned());
    Effect::Mouse(state.look.mouse)
}
