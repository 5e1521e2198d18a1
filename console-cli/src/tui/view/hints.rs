//! The hint line: keys that work in the current state, from the key table.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use turbowish_model::snapshot::Accounting;

use super::put;
use crate::tui::keys::{KEYS, LIVE_HINTS, PAUSE_HINT, RECORD_HINT, STEP_HINT, Scope};
use crate::tui::record::RecordRow;
use crate::tui::state::{State, View};
use crate::tui::update;

pub(super) fn draw(state: &State, frame: &mut Frame<'_>, area: Rect) {
    put(
        frame,
        area,
        0,
        Line::from(line(state, usize::from(area.width))),
    );
}

/// The hints for a record.
pub(crate) const RECORD_HINTS: [&str; 7] = [
    "j k links",
    "Enter open",
    "H back",
    "n next",
    "y copy",
    "? help",
    "q quit",
];

/// The hints for the record of a task.
const TASK_HINTS: [&str; 8] = [
    "j k links",
    "Enter open",
    "H back",
    "p pause",
    "D debugger",
    "y copy",
    "? help",
    "q quit",
];

/// The hints for the record of an alert.
const ALERT_HINTS: [&str; 8] = [
    "j k links",
    "Enter open",
    "H back",
    "n next",
    "D debugger",
    "y copy",
    "? help",
    "q quit",
];

/// The hints of the current scopes; if they do not all fit, the last ones before "quit" are
/// omitted.
pub(super) fn line(state: &State, width: usize) -> String {
    let scopes = update::scopes(state);
    let armed = state
        .shown
        .as_ref()
        .is_some_and(|shown| shown.process.accounting == Accounting::Armed);
    let picking = scopes.contains(&Scope::Picker);
    let mut hints: Vec<&str> = KEYS
        .iter()
        .filter(|binding| scopes.contains(&binding.scope))
        // The list of processes is already open.
        .filter(|binding| !(picking && binding.label == "0"))
        .filter_map(|binding| binding.hint)
        .filter(|hint| *hint != PAUSE_HINT || state.view == View::Tasks)
        .filter(|hint| state.link.past.is_none() || !LIVE_HINTS.contains(hint))
        .filter(|hint| state.link.past.is_some() || *hint != STEP_HINT)
        .map(|hint| match hint {
            "a arm" if armed => "a disarm",
            RECORD_HINT if state.visit.tapes.running.is_some() => "R end recording",
            hint => hint,
        })
        .collect();
    if let (Some(open), None) = (&state.record, &state.overlay) {
        hints = match open.kept {
            RecordRow::Task(_) => TASK_HINTS.to_vec(),
            // A debugger shows what happens now.
            RecordRow::Alert(ref alert) if !alert.is_over() => ALERT_HINTS.to_vec(),
            _ => RECORD_HINTS.to_vec(),
        };
    }
    let length = |hints: &[&str]| hints.iter().map(|hint| hint.len() + 2).sum::<usize>();
    while length(&hints) > width + 1 && hints.len() > 1 {
        hints.remove(hints.len() - 2);
    }
    format!(" {}", hints.join("  "))
}
