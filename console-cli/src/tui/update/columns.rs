//! The column list: the visible columns and their order.

use crate::tui::keys::Action;
use crate::tui::layout;
use crate::tui::rows::Face;
use crate::tui::state::{Overlay, State};

/// Opens the list on its first line.
pub(super) fn open(state: &mut State) {
    state.overlay = Some(Overlay::Columns { at: 0 });
}

/// The columns after the first one, the visible ones first; and the number of visible ones.
pub(crate) fn listed(state: &State) -> (Vec<Face>, usize) {
    let shown = shown(state);
    let mut others = state.table().faces();
    // The first column is always visible.
    others.remove(0);
    let mut faces = Vec::new();
    for key in &shown {
        if let Some(at) = others.iter().position(|face| face.key == *key) {
            faces.push(others.remove(at));
        }
    }
    let count = faces.len();
    faces.extend(others);
    (faces, count)
}

/// The chosen columns, else those on the screen.
fn shown(state: &State) -> Vec<&'static str> {
    if let Some(picked) = state.table().picked() {
        return picked.to_vec();
    }
    let columns = layout::columns(state.table(), state.size.0);
    columns
        .iter()
        .skip(1)
        .map(|column| column.face.key)
        .collect()
}

/// Performs an action while the list is open.
pub(super) fn act(state: &mut State, action: Action, at: usize) {
    let (faces, count) = listed(state);
    let last = faces.len().saturating_sub(1);
    let at = at.min(last);
    let keys = |faces: &[Face]| faces.iter().map(|face| face.key).collect::<Vec<_>>();
    let mut shown = keys(&faces[..count]);
    let at = match action {
        Action::Down => (at + 1).min(last),
        Action::Up => at.saturating_sub(1),
        Action::Accept if at < count => {
            shown.remove(at);
            state.table_mut().pick(Some(shown));
            // The line has moved.
            at.min(last)
        }
        Action::Accept => {
            shown.push(faces[at].key);
            state.table_mut().pick(Some(shown));
            count
        }
        Action::MoveDown if at + 1 < count => {
            shown.swap(at, at + 1);
            state.table_mut().pick(Some(shown));
            at + 1
        }
        Action::MoveUp if at > 0 && at < count => {
            shown.swap(at, at - 1);
            state.table_mut().pick(Some(shown));
            at - 1
        }
        Action::Default => {
            state.table_mut().pick(None);
            0
        }
        _ => at,
    };
    state.overlay = Some(Overlay::Columns { at });
}
