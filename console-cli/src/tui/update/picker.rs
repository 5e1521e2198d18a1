//! The list of processes: its entries, and the keys while it is open.

use super::{Stride, on_table, sessions, stride};
use crate::tui::keys::Action;
use crate::tui::message::Effect;
use crate::tui::state::{Listed, Overlay, Picker, State};

/// Opens the list with the watched process selected.
pub(super) fn open(state: &mut State) {
    state.overlay = Some(Overlay::Picker(Picker {
        selected: state.link.peer.clone(),
        ..Picker::default()
    }));
}

/// The processes that match the filter of the list.
pub(crate) fn kept<'a>(state: &'a State, picker: &Picker) -> Vec<&'a Listed> {
    let listed = state.listed.iter().flatten();
    listed.filter(|listed| picker.keeps(listed)).collect()
}

/// Performs an action while the list is open.
pub(super) fn act(state: &mut State, action: Action, mut picker: Picker) -> Option<Effect> {
    if picker.typing {
        match action {
            Action::Accept => picker.typing = false,
            Action::Erase => drop(picker.filter.pop()),
            Action::EraseAll => picker.filter.clear(),
            _ => {}
        }
        state.overlay = Some(Overlay::Picker(picker));
        return None;
    }
    let listed = kept(state, &picker);
    let peers: Vec<_> = listed.iter().map(|listed| listed.peer.clone()).collect();
    let selected = picker.selected.as_ref();
    let at = selected.and_then(|peer| peers.iter().position(|other| other.is(peer)));
    let (at, last) = (at.unwrap_or(0), peers.len().saturating_sub(1));
    let at = match (action, stride(action, usize::from(state.size.1))) {
        (Action::Accept, _) => {
            match peers.get(at) {
                Some(peer) => sessions::turn(state, peer.clone()),
                None => state.overlay = Some(Overlay::Picker(picker)),
            }
            return None;
        }
        (Action::Filter, _) => {
            picker.typing = true;
            at
        }
        (_, Some(Stride::By(by))) => at.saturating_add_signed(by).min(last),
        (_, Some(Stride::First)) => 0,
        (_, Some(Stride::Last)) => last,
        (Action::Help | Action::Redraw | Action::Suspend | Action::Command, None) => {
            state.overlay = Some(Overlay::Picker(picker));
            return on_table(state, action);
        }
        (_, None) => at,
    };
    picker.selected = peers.get(at).cloned();
    state.overlay = Some(Overlay::Picker(picker));
    None
}

/// Adds a letter to the filter, if it is being typed.
pub(super) fn letter(state: &mut State, mut picker: Picker, letter: char) {
    if picker.typing {
        picker.filter.push(letter);
    }
    state.overlay = Some(Overlay::Picker(picker));
}

/// Removes the filter.
pub(super) fn unfilter(state: &mut State, picker: Picker) {
    state.overlay = Some(Overlay::Picker(Picker {
        selected: picker.selected,
        ..Picker::default()
    }));
}
