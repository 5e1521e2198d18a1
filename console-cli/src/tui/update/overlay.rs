//! Keys while something lies over the table: help, picker, sort menu, filter line, question.

use crossterm::event::KeyCode;
use turbowish_model::snapshot::Accounting;

use super::{Stride, bar, columns, on_table, seats, set_filter, sort, stride};
use crate::tui::keys::{Action, Key};
use crate::tui::layout;
use crate::tui::message::Effect;
use crate::tui::rows::{Face, Order};
use crate::tui::state::{HelpPage, Overlay, Peer, State};

pub(super) fn open_picker(state: &mut State) {
    let selected = state.link.peer.clone();
    state.overlay = Some(Overlay::Picker { selected });
}

pub(super) fn open_prompt(state: &mut State) {
    let text = state.table().filter().to_owned();
    state.overlay = Some(Overlay::Prompt {
        before: text.clone(),
        text,
        fault: None,
    });
}

pub(super) fn open_menu(state: &mut State) {
    let key = &state.table().order().key;
    let at = menu(state, "")
        .iter()
        .position(|face| face.key == key)
        .unwrap_or(0);
    state.overlay = Some(Overlay::Menu {
        typed: String::new(),
        at,
    });
}

/// The entries of the sort menu that what was typed leaves; the table's own order is one of them.
pub(crate) fn menu(state: &State, typed: &str) -> Vec<Face> {
    let mut faces = state.table().faces();
    if let Some(own) = state.table().own_order() {
        faces.insert(0, own);
    }
    let typed = typed.to_lowercase();
    let found = |text: &str| text.to_lowercase().contains(&typed);
    let named = |face: &Face| found(face.key) || found(face.title);
    faces.retain(|face| named(face) || found(face.meaning));
    // A column that is called so comes before those that only mention it.
    faces.sort_by_key(|face| !named(face));
    faces
}

/// What an action does while an overlay is open.
pub(super) fn act(state: &mut State, action: Action) -> Option<Effect> {
    let overlay = state.overlay.take()?;
    if matches!(action, Action::Quit | Action::Back) {
        return close(state, overlay, action);
    }
    match overlay {
        Overlay::Question { arm } => {
            let accounting = if arm {
                Accounting::Armed
            } else {
                Accounting::Disarmed
            };
            return (action == Action::Yes).then_some(Effect::Switch(accounting));
        }
        Overlay::Help { page, scroll } => return on_help(state, action, page, scroll),
        Overlay::Command(typed) => return bar::act(state, action, typed),
        Overlay::Picker { selected } => return on_picker(state, action, selected),
        Overlay::Menu { typed, at } => on_menu(state, action, typed, at),
        Overlay::Columns { at } => columns::act(state, action, at),
        Overlay::Prompt { text, before, .. } => on_prompt(state, action, text, before),
    }
    None
}

/// Closes the overlay; a filter that was not kept is undone.
fn close(state: &mut State, overlay: Overlay, action: Action) -> Option<Effect> {
    match overlay {
        Overlay::Prompt { before, .. } => set_filter(state, before),
        // Without a process there is nothing below the picker.
        Overlay::Picker { .. } if state.link.peer.is_none() => {
            state.overlay = Some(overlay);
            return (action == Action::Quit).then_some(Effect::Quit);
        }
        Overlay::Command(_) => closed(state),
        _ => {}
    }
    None
}

/// Nothing lies over the screen any more; without a process that is the list of them.
pub(super) fn closed(state: &mut State) {
    state.overlay = None;
    let several = state.listed.as_ref().is_some_and(|listed| listed.len() > 1);
    if state.link.peer.is_none() && several {
        open_picker(state);
    }
}

/// Text for the sort menu and the filter line; for a question, a no.
pub(super) fn unbound(state: &mut State, key: Key) {
    if matches!(state.overlay, Some(Overlay::Question { .. })) {
        state.overlay = None;
    }
    let KeyCode::Char(letter) = key.code else {
        return;
    };
    if key.ctrl {
        return;
    }
    match state.overlay.take() {
        Some(Overlay::Menu { mut typed, .. }) => {
            typed.push(letter);
            state.overlay = Some(Overlay::Menu { typed, at: 0 });
        }
        Some(Overlay::Prompt {
            mut text, before, ..
        }) => {
            text.push(letter);
            type_filter(state, text, before);
        }
        Some(Overlay::Command(typed)) => bar::letter(state, typed, letter),
        other => state.overlay = other,
    }
}

fn on_help(state: &mut State, action: Action, page: HelpPage, scroll: usize) -> Option<Effect> {
    let (lines, height) = layout::help_lines(state, page);
    let last = lines.saturating_sub(height);
    let scroll = match (action, stride(action, height)) {
        (Action::Help, _) => {
            state.overlay = Some(Overlay::Help {
                page: page.next(),
                scroll: 0,
            });
            return None;
        }
        (_, Some(Stride::By(by))) => scroll.saturating_add_signed(by).min(last),
        (_, Some(Stride::First)) => 0,
        (_, Some(Stride::Last)) => last,
        (_, None) => return on_table(state, action),
    };
    state.overlay = Some(Overlay::Help { page, scroll });
    None
}

fn on_picker(state: &mut State, action: Action, selected: Option<Peer>) -> Option<Effect> {
    let listed = state.listed.as_deref().unwrap_or_default();
    let at = selected
        .as_ref()
        .and_then(|peer| listed.iter().position(|listed| listed.peer.is(peer)))
        .unwrap_or(0);
    let last = listed.len().saturating_sub(1);
    let at = match (action, stride(action, usize::from(state.size.1))) {
        (Action::Accept, _) => {
            match listed.get(at).map(|listed| listed.peer.clone()) {
                Some(peer) => seats::turn(state, peer),
                None => state.overlay = Some(Overlay::Picker { selected }),
            }
            return None;
        }
        (_, Some(Stride::By(by))) => at.saturating_add_signed(by).min(last),
        (_, Some(Stride::First)) => 0,
        (_, Some(Stride::Last)) => last,
        (Action::Help | Action::Redraw | Action::Suspend | Action::Command, None) => {
            state.overlay = Some(Overlay::Picker { selected });
            return on_table(state, action);
        }
        (_, None) => at,
    };
    let selected = listed.get(at).map(|listed| listed.peer.clone());
    state.overlay = Some(Overlay::Picker { selected });
    None
}

fn on_menu(state: &mut State, action: Action, mut typed: String, at: usize) {
    let entries = menu(state, &typed);
    let last = entries.len().saturating_sub(1);
    let at = match action {
        Action::Accept => {
            if let Some(face) = entries.get(at) {
                let now = state.table().order();
                let invert = now.key == face.key && !now.invert;
                sort(
                    state,
                    Order {
                        key: face.key.to_owned(),
                        invert,
                    },
                );
            }
            return;
        }
        Action::Down => (at + 1).min(last),
        Action::Up => at.saturating_sub(1),
        Action::Erase => {
            typed.pop();
            0
        }
        Action::EraseAll => {
            typed.clear();
            0
        }
        _ => at,
    };
    state.overlay = Some(Overlay::Menu { typed, at });
}

fn on_prompt(state: &mut State, action: Action, mut text: String, before: String) {
    match action {
        Action::Accept => {
            if let Err(fault) = state.table().check_filter(&text) {
                state.overlay = Some(Overlay::Prompt {
                    text,
                    before,
                    fault: Some(fault),
                });
            }
            return;
        }
        Action::Erase => {
            text.pop();
        }
        Action::EraseAll => text.clear(),
        _ => {}
    }
    type_filter(state, text, before);
}

/// Filters while one types: a mistake is named, and the last good filter stays.
fn type_filter(state: &mut State, text: String, before: String) {
    let fault = state.table().check_filter(&text).err();
    if fault.is_none() {
        set_filter(state, text.clone());
    }
    state.overlay = Some(Overlay::Prompt {
        text,
        before,
        fault,
    });
}
