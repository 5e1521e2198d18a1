//! Steps through a recording.

use turbowish_model::snapshot::units;

use crate::tui::state::{Leap, State};

/// That there is no other window.
pub(super) const ONE_WINDOW: &str = "a recording has the sums of 10 s before each state only";

/// Requests another state. It is shown as soon as it arrives, although a key was pressed.
pub(super) fn leap(state: &mut State, leap: Leap, forward: bool) {
    let Some(past) = &mut state.link.past else {
        return;
    };
    let told = past.leap(leap, forward);
    let lost = past.lost();
    match (told, lost) {
        (Err(reason), _) => state.notice = Some(reason.to_owned()),
        (Ok(()), 0) => {}
        (Ok(()), 1) => {
            state.say("1 state was due before this one, and was not recorded".to_owned())
        }
        (Ok(()), lost) => {
            let lost = units::count(lost.into());
            state.say(format!(
                "{lost} states were due before this one, and were not recorded"
            ));
        }
    }
    state.pending.moved_ns = None;
}

/// Requests the last state.
pub(super) fn end(state: &mut State) {
    if let Some(past) = &mut state.link.past {
        past.end();
    }
}

/// The requested state cannot be read.
pub(super) fn unread(state: &mut State, reason: String) {
    if let Some(past) = &mut state.link.past {
        past.stay();
    }
    state.notice = Some(reason);
}
