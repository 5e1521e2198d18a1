//! Tasks are paused and go on, and what this console has paused is not forgotten.

use turbowish_model::snapshot::Accounting;
use turbowish_model::units;
use turbowish_wire::client::Target;

use crate::record::told::Link;
use crate::tui::keys::Action;
use crate::tui::message::Effect;
use crate::tui::record::Kept;
use crate::tui::state::{Hold, Overlay, Phase, Question, State, View};

/// Pauses the task that is selected or open, or lets it go on; or asks which debugger is to look at it.
pub(super) fn act(state: &mut State, action: Action) -> Option<Effect> {
    match (meant(state), action) {
        (Ok((hold, _)), Action::Debug) => {
            ask_for_debugger(state, hold);
            None
        }
        (Ok((hold, true)), _) => Some(Effect::Resume(hold)),
        (Ok((hold, false)), _) => {
            // From now on: whoever leaves before the answer is asked, too.
            remember(state, &hold);
            Some(Effect::Pause(hold))
        }
        (Err(reason), _) => {
            state.notice = Some(reason.to_owned());
            None
        }
    }
}

fn ask_for_debugger(state: &mut State, hold: Hold) {
    if matches!(hold.peer.target, Target::Tcp { .. }) {
        let told = "it is reached over TCP: a debugger must run on its own host";
        state.notice = Some(told.to_owned());
    } else {
        state.overlay = Some(Overlay::Question(Question::Debugger(hold)));
    }
}

/// The task that is selected or open, and whether it is paused.
fn meant(state: &State) -> Result<(Hold, bool), &'static str> {
    const ELSEWHERE: &str =
        "p and D are for a task: 2 lists them; Space freezes the display, a stops accounting";
    let row = match &state.record {
        Some(open) if open.over => return Err("the task is over"),
        Some(open) => match &open.kept {
            Kept::Task(row) => &**row,
            _ => return Err(ELSEWHERE),
        },
        None if state.view != View::Tasks => return Err(ELSEWHERE),
        None => {
            let table = state.table();
            let Some(selected) = table.selected() else {
                return Err("there is no task");
            };
            let id = match table.link(selected) {
                Some(Link::Task { id, .. }) => id,
                _ => return Err("this is a group: l unfolds it"),
            };
            let mut rows = state.tables.tasks.rows().iter();
            let row = rows.find(|row| Some(row.id) == id);
            row.filter(|_| !table.ended(selected))
                .ok_or("the task is over")?
        }
    };
    let disarmed = state.shown.as_ref().map(|shown| shown.process.accounting);
    match (&state.link.peer, state.phase()) {
        _ if disarmed == Some(Accounting::Disarmed) => {
            Err("accounting is off, and tasks are paused by it: a switches it on")
        }
        (Some(peer), Phase::Live) => Ok((
            Hold {
                peer: peer.clone(),
                task: row.id,
                name: row.name.clone(),
            },
            row.pause.is_some(),
        )),
        _ => Err("no data come: tasks cannot be paused now"),
    }
}

/// The process has paused a task, or does not.
pub(super) fn paused(state: &mut State, hold: &Hold, answer: Result<(), String>) {
    state.notice = Some(match answer {
        Ok(()) => {
            let told = format!(
                "{} is paused as long as this console says so; p lets it go on",
                hold.name
            );
            remember(state, hold);
            told
        }
        Err(reason) => {
            forget(state, hold);
            reason
        }
    });
}

fn remember(state: &mut State, hold: &Hold) {
    forget(state, hold);
    state.visit.holds.push(hold.clone());
}

/// The process lets a task go on, or says why not.
pub(super) fn resumed(state: &mut State, hold: &Hold, answer: Result<(), String>) {
    // Whatever it says, this console has nothing to do with it any more.
    forget(state, hold);
    state.notice = Some(match answer {
        Ok(()) => format!("{} goes on", hold.name),
        Err(reason) => reason,
    });
}

/// A task is not paused any more, or by somebody else.
pub(super) fn lost(state: &mut State, hold: &Hold, reason: String) {
    forget(state, hold);
    state.notice = Some(format!("{}: {reason}", hold.name));
}

fn forget(state: &mut State, hold: &Hold) {
    let same = |other: &Hold| other.task == hold.task && other.peer.is(&hold.peer);
    state.visit.holds.retain(|other| !same(other));
}

/// Leaves, unless something has to be said before.
pub(super) fn leave(state: &mut State) -> Option<Effect> {
    if state.visit.holds.is_empty() {
        return Some(Effect::Quit);
    }
    state.overlay = Some(Overlay::Question(Question::Leave));
    None
}

/// `serve-17 is`, `3 tasks are`
pub(crate) fn who(holds: &[Hold]) -> String {
    match holds {
        [one] => format!("{} is", one.name),
        several => format!("{} tasks are", units::count(several.len() as u64)),
    }
}
