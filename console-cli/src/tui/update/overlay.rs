//! Keys while an overlay is open: help, picker, sort menu, filter line, question.

use crossterm::event::KeyCode;
use turbowish_model::snapshot::Accounting;

use super::{Stride, bar, columns, hold, on_table, picker, set_filter, sort, stride};
use crate::tui::keys::{Action, Key};
use crate::tui::layout;
use crate::tui::message::Effect;
use crate::tui::rows::{Face, Order};
use crate::tui::state::{HelpPage, Overlay, Question, State, Typed, typed};

pub(super) fn open_prompt(state: &mut State) {
    let text = state.table().filter().to_owned();
    state.overlay = Some(Overlay::Prompt {
        typed: Typed::of(&text),
        before: text,
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

/// The entries of the sort menu that match the typed text; the table's own order is one of them.
pub(crate) fn menu(state: &State, typed: &str) -> Vec<Face> {
    let mut faces = state.table().faces();
    if let Some(own) = state.table().own_order() {
        faces.insert(0, own);
    }
    let typed = typed.to_lowercase();
    let found = |text: &str| text.to_lowercase().contains(&typed);
    let named = |face: &Face| found(face.key) || found(face.title);
    faces.retain(|face| named(face) || found(face.meaning));
    // A column of that name comes before those that only mention it.
    faces.sort_by_key(|face| !named(face));
    faces
}

/// Performs an action while an overlay is open.
pub(super) fn act(state: &mut State, action: Action) -> Option<Effect> {
    let overlay = state.overlay.take()?;
    if matches!(action, Action::Quit | Action::Back) {
        return close(state, overlay, action);
    }
    match overlay {
        Overlay::Question(question) => return answer(state, question, action),
        Overlay::Help { page, scroll } => return on_help(state, action, page, scroll),
        Overlay::Command(typed) => return bar::act(state, action, typed),
        Overlay::Picker(picker) => return picker::act(state, action, picker),
        Overlay::Menu { typed, at } => on_menu(state, action, typed, at),
        Overlay::Columns { at } => columns::act(state, action, at),
        Overlay::Prompt { typed, before } => on_prompt(state, action, typed, before),
    }
    None
}

/// The effect of the answer to a question.
fn answer(state: &mut State, question: Question, action: Action) -> Option<Effect> {
    match (question, action) {
        (Question::Switch { arm: true }, Action::Yes) => Some(Effect::Switch(Accounting::Armed)),
        (Question::Switch { arm: false }, Action::Yes) => {
            Some(Effect::Switch(Accounting::Disarmed))
        }
        (Question::Pause(hold), Action::Yes) => Some(hold::pause(state, hold)),
        (Question::Leave, Action::Resume) => Some(Effect::Leave { keep: false }),
        (Question::Leave, Action::Keep) => Some(Effect::Leave { keep: true }),
        (Question::Debugger(hold), Action::Gdb) => Some(Effect::Debug { hold, lldb: false }),
        (Question::Debugger(hold), Action::Lldb) => Some(Effect::Debug { hold, lldb: true }),
        _ => None,
    }
}

/// Closes the overlay; a filter that was not confirmed is reverted.
fn close(state: &mut State, overlay: Overlay, action: Action) -> Option<Effect> {
    match overlay {
        Overlay::Prompt { before, .. } => set_filter(state, before),
        Overlay::Picker(picker) if picker.typing || !picker.filter.is_empty() => {
            picker::unfilter(state, picker);
        }
        // Without a process there is nothing below the list.
        Overlay::Picker(_) if !state.has_subject() => {
            if action == Action::Quit {
                return hold::leave(state);
            }
            state.overlay = Some(overlay);
        }
        Overlay::Command(_) => closed(state),
        _ => {}
    }
    None
}

/// Removes the overlay; without a process, shows the list of processes.
pub(super) fn closed(state: &mut State) {
    state.overlay = None;
    let several = state.listed.as_ref().is_some_and(|listed| listed.len() > 1);
    if !state.has_subject() && several {
        picker::open(state);
    }
}

/// Handles other keys: text for the sort menu and the filter line, no for a question.
pub(super) fn unbound(state: &mut State, key: Key) {
    if matches!(state.overlay, Some(Overlay::Question(_))) {
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
        Some(Overlay::Prompt { mut typed, before }) => {
            typed.insert(letter);
            type_filter(state, typed, before);
        }
        Some(Overlay::Picker(picker)) => picker::letter(state, picker, letter),
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

fn on_prompt(state: &mut State, action: Action, mut typed: Typed, before: String) {
    match action {
        Action::Accept => {
            typed.fault = state.table().check_filter(&typed.text).err();
            if typed.fault.is_some() {
                state.overlay = Some(Overlay::Prompt { typed, before });
            } else if !typed.text.is_empty() {
                typed::remember(&mut state.visit.typed.filters, typed.text);
            }
            return;
        }
        Action::Up => typed.earlier(&state.visit.typed.filters, 1),
        Action::Down => typed.earlier(&state.visit.typed.filters, -1),
        other => bar::edit_line(&mut typed, other),
    }
    type_filter(state, typed, before);
}

/// Filters while the user types: an error is reported, and the last valid filter stays.
fn type_filter(state: &mut State, mut typed: Typed, before: String) {
    typed.fault = state.table().check_filter(&typed.text).err();
    if typed.fault.is_none() {
        set_filter(state, typed.text.clone());
    }
    state.overlay = Some(Overlay::Prompt { typed, before });
}
