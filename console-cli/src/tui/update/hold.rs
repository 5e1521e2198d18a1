//! Pausing and resuming of tasks, and the list of tasks that this console has paused.

use turbowish_model::snapshot::alert::{Party, PartyKind};
use turbowish_model::snapshot::units;
use turbowish_model::snapshot::{Accounting, TaskState};
use turbowish_wire::client::Target;

use crate::detail::rich_line::Link;
use crate::tui::keys::Action;
use crate::tui::layout;
use crate::tui::message::Effect;
use crate::tui::record::{self, RecordRow};
use crate::tui::rows::Absent;
use crate::tui::state::{Overlay, PauseRequest, PausedTask, Phase, Question, State, View};

/// Resumes the task that is selected or open, asks whether to pause it, or which debugger to attach
/// to it.
pub(super) fn act(state: &mut State, action: Action) -> Option<Effect> {
    if state.record.is_none()
        && state.view == View::Tasks
        && let Some(row) = state.table().selected()
    {
        // A paused row moves, and the selection with it, so that pressing p again is for the same
        // task.
        let height = layout::table_rows(state);
        state.table_mut().select(row, height);
    }
    let target = match action {
        Action::Debug => of_alert(state).unwrap_or_else(|| target(state)),
        _ => target(state),
    };
    match (target, action) {
        (Ok((hold, _)), Action::Debug) => {
            ask_for_debugger(state, hold);
            None
        }
        (Ok((hold, paused)), _) => toggle(state, hold, paused),
        (Err(reason), _) => {
            state.notice = Some(reason.to_owned());
            None
        }
    }
}

/// Resumes a task, or asks whether to pause it. The last request counts, until data have arrived
/// that show it.
fn toggle(state: &mut State, hold: PausedTask, paused: bool) -> Option<Effect> {
    let mut toggles = state.visit.toggles.iter();
    let paused = match toggles.find(|toggle| toggle.hold.is(&hold)) {
        Some(toggle) if toggle.answered_ns.is_none() => {
            let told = format!("{}: the process has not answered yet", hold.name);
            state.notice = Some(told);
            return None;
        }
        Some(toggle) => toggle.paused,
        None => paused,
    };
    if paused {
        request(state, &hold, false);
        return Some(Effect::Resume(hold));
    }
    state.overlay = Some(Overlay::Question(Question::Pause(hold)));
    None
}

/// Pauses a task: the question was answered with yes.
pub(super) fn pause(state: &mut State, hold: PausedTask) -> Effect {
    request(state, &hold, true);
    // From now on, so that an exit before the answer asks about it, too.
    remember(state, &hold);
    Effect::Pause(hold)
}

/// What is asked of the process for a task, in place of an earlier request.
fn request(state: &mut State, hold: &PausedTask, paused: bool) {
    forget_toggle(state, hold);
    state.visit.toggles.push(PauseRequest {
        hold: hold.clone(),
        paused,
        answered_ns: None,
    });
}

fn forget_toggle(state: &mut State, hold: &PausedTask) {
    state.visit.toggles.retain(|toggle| !toggle.hold.is(hold));
}

/// The process has answered: a success shows in later data, a failure is not waited for.
fn answered(state: &mut State, hold: &PausedTask, done: bool) {
    let now = state.now.mono_ns;
    if !done {
        return forget_toggle(state, hold);
    }
    for toggle in &mut state.visit.toggles {
        if toggle.hold.is(hold) {
            toggle.answered_ns = Some(now);
        }
    }
}

/// New rows have arrived. They show the paused tasks, even if a debugger or another console resumed
/// one.
pub(super) fn shown(state: &mut State) {
    let (data_ns, interval_ns) = (state.link.data_ns, state.pace_ns());
    let visit = &mut state.visit;
    // Data that arrive just after the answer may have been created before it.
    let is_open = |toggle: &PauseRequest| {
        let answered = toggle.answered_ns;
        answered.is_none_or(|at| data_ns <= at.saturating_add(interval_ns))
    };
    visit.toggles.retain(is_open);
    let Some(peer) = state.link.peer.as_ref().filter(|_| state.record.is_none()) else {
        return;
    };
    let rows = state.tables.tasks.rows();
    let goes_on = |hold: &PausedTask| {
        let mut same = rows.iter().filter(|row| row.id == hold.task);
        hold.peer.is(peer) && same.any(|row| row.pause.is_none())
    };
    let toggles = &visit.toggles;
    let waits = |hold: &PausedTask| toggles.iter().any(|toggle| toggle.hold.is(hold));
    visit.holds.retain(|hold| waits(hold) || !goes_on(hold));
}

fn ask_for_debugger(state: &mut State, hold: PausedTask) {
    if matches!(hold.peer.target, Target::Tcp { .. }) {
        let told = "the process is reached over TCP: run the debugger on its host";
        state.notice = Some(told.to_owned());
    } else {
        state.overlay = Some(Overlay::Question(Question::Debugger(hold)));
    }
}

/// The target of a key: the task, and whether it is paused; else the reason why there is none.
type PauseTarget = Result<(PausedTask, bool), &'static str>;

/// The task of an open alert for a debugger: the one whose link is selected, else the first that is
/// polled now, else the first. `None` if no alert is open.
fn of_alert(state: &State) -> Option<PauseTarget> {
    let open = state.record.as_ref()?;
    let alert = open.alert()?;
    let lines = record::lines(state);
    let links = record::links(&lines);
    let selected = match links.get(open.link) {
        Some((.., Link::Task { id, .. })) => *id,
        _ => None,
    };
    let rows = state.beside().tasks;
    let is_polled = |party: &&Party| {
        let mut rows = rows.iter();
        rows.any(|row| row.id == party.id && row.state == TaskState::Polling)
    };
    let tasks = || {
        let parties = alert.parties.iter();
        parties.filter(|party| party.kind == PartyKind::Task)
    };
    let task = selected.or_else(|| Some(tasks().find(is_polled).or(tasks().next())?.id));
    let name = |id| {
        let party = tasks().find(|party| party.id == id);
        let row = rows.iter().find(|row| row.id == id);
        let name = party.map(|party| &party.name);
        name.or(row.map(|row| &row.name)).cloned()
    };
    let known = task.and_then(|id| Some((id, name(id)?)));
    let paused = |id| rows.iter().any(|row| row.id == id && row.pause.is_some());
    Some(match known {
        Some((id, name)) => held(state, id, &name, paused(id)),
        None => Err("this alert has no task: attach a debugger to the process by its ID"),
    })
}

/// The task that is selected or open, and whether it is paused.
fn target(state: &State) -> PauseTarget {
    const ELSEWHERE: &str =
        "select a task first (2 lists them); Space freezes, a disarms accounting";
    let row = match &state.record {
        Some(open) if open.absent == Some(Absent::Ended) => return Err("the task has ended"),
        Some(open) => match &open.kept {
            RecordRow::Task(row) => &**row,
            _ => return Err(ELSEWHERE),
        },
        None if state.view != View::Tasks => return Err(ELSEWHERE),
        None => {
            let table = state.table();
            let Some(selected) = table.selected() else {
                return Err("no task is selected");
            };
            let id = match table.link(selected) {
                Some(Link::Task { id, .. }) => id,
                _ => return Err("this is a group: l unfolds it"),
            };
            let mut rows = state.tables.tasks.rows().iter();
            let row = rows.find(|row| Some(row.id) == id);
            row.filter(|_| table.absent(selected) != Some(Absent::Ended))
                .ok_or("the task has ended")?
        }
    };
    held(state, row.id, &row.name, row.pause.is_some())
}

/// A task of the watched process, if the process can be reached now.
fn held(state: &State, task: u64, name: &str, paused: bool) -> PauseTarget {
    let disarmed = state.shown.as_ref().map(|shown| shown.process.accounting);
    match (&state.link.peer, state.phase()) {
        _ if disarmed == Some(Accounting::Disarmed) && state.link.past.is_none() => {
            Err("accounting is off, but a pause needs it: a arms it")
        }
        (Some(peer), Phase::Live) => Ok((
            PausedTask {
                peer: peer.clone(),
                task,
                name: name.to_owned(),
            },
            paused,
        )),
        (_, Phase::Past) => Err("this is a recording: its tasks cannot be paused or debugged"),
        _ => Err("no data from the process: tasks cannot be paused now"),
    }
}

/// The process has paused a task, or has refused.
pub(super) fn paused(state: &mut State, hold: &PausedTask, answer: Result<(), String>) {
    answered(state, hold, answer.is_ok());
    match answer {
        Ok(()) => {
            let told = "stays paused while this console runs; p resumes it";
            state.say(format!("{} {told}", hold.name));
            remember(state, hold);
        }
        Err(reason) => {
            forget(state, hold);
            state.notice = Some(reason);
        }
    }
}

fn remember(state: &mut State, hold: &PausedTask) {
    forget(state, hold);
    state.visit.holds.push(hold.clone());
}

/// The process has resumed a task, or has refused.
pub(super) fn resumed(state: &mut State, hold: &PausedTask, answer: Result<(), String>) {
    answered(state, hold, answer.is_ok());
    // In either case this console no longer pauses it.
    forget(state, hold);
    match answer {
        Ok(()) => state.say(format!("{} resumed", hold.name)),
        Err(reason) => state.notice = Some(reason),
    }
}

/// A task is no longer paused, or is paused by another console.
pub(super) fn lost(state: &mut State, hold: &PausedTask, reason: String) {
    forget(state, hold);
    state.notice = Some(format!("{}: {reason}", hold.name));
}

fn forget(state: &mut State, hold: &PausedTask) {
    state.visit.holds.retain(|other| !other.is(hold));
}

/// A debugger has run with the task, or has failed: then the row shows the task's state.
pub(super) fn debugged(state: &mut State, hold: &PausedTask, ended: Result<(), String>) {
    match ended {
        Ok(()) => {
            forget(state, hold);
            forget_toggle(state, hold);
            state.say(format!("the debugger has exited; {} resumed", hold.name));
        }
        Err(reason) => state.notice = Some(reason),
    }
}

/// Exits, unless a question must be answered first.
pub(super) fn leave(state: &mut State) -> Option<Effect> {
    if state.visit.holds.is_empty() {
        return Some(Effect::Quit);
    }
    state.overlay = Some(Overlay::Question(Question::Leave));
    None
}

/// `serve-17 is`, `3 tasks are`
pub(crate) fn who(holds: &[PausedTask]) -> String {
    match holds {
        [one] => format!("{} is", one.name),
        several => format!("{} tasks are", units::count(several.len() as u64)),
    }
}
