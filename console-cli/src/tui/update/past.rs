//! Steps through a recording, and through the states that a process keeps.

use turbowish_model::snapshot::units;

use crate::detail::rich_line::Link;
use crate::tui::message::Effect;
use crate::tui::state::{AlertTime, Leap, Past, Phase, State, View};

/// That there is no other window.
pub(super) const ONE_WINDOW: &str = "a recording has the sums of 10 s before each state only";

/// What the keys forward say of a process that is watched.
const LIVE: &str = "this is live: [ { ( go back";

/// Requests another state. It is shown as soon as it arrives, although a key was pressed. From a
/// process that is watched, a step back leads to the states that it keeps.
pub(super) fn leap(state: &mut State, leap: Leap, forward: bool) -> Option<Effect> {
    let leap = match (leap, forward) {
        (Leap::Alert, false) => spell(state).unwrap_or(leap),
        _ => leap,
    };
    if state.link.past.is_none() {
        return rewind(state, leap, forward);
    }
    go(state, leap, forward);
    None
}

/// The way back to the alert that is open or selected; `None` if its state, or one before it, is
/// shown already.
fn spell(state: &State) -> Option<Leap> {
    let alert = match (&state.record, state.view) {
        (Some(open), _) => open.alert()?,
        (None, View::Alerts) => {
            let table = state.table();
            let link = table.link(table.selected()?)?;
            let mut alerts = state.all_alerts().iter();
            alerts.find(|alert| Link::alert(alert) == link)?
        }
        (None, _) => return None,
    };
    let at = state.shown.as_ref()?.at_unix_ns;
    let began = alert.began_at(at);
    let ended = began.saturating_add(alert.lasted_ns());
    let alert = AlertTime {
        pitfall: alert.pitfall,
        began,
        ended,
    };
    // The key leads back only: from its state, or one before it, to the alert before; so if its
    // time is not kept.
    let is_passed = state.link.past.as_ref().is_some_and(|past| {
        let nth = past.of_spell(alert);
        nth.is_none_or(|nth| nth >= past.at())
    });
    (!is_passed).then_some(Leap::Spell(alert))
}

/// Requests another state of the recording that is shown; says why not, and what was lost.
fn go(state: &mut State, leap: Leap, forward: bool) {
    let Some(past) = &mut state.link.past else {
        return;
    };
    let told = past.leap(leap, forward);
    let (lost, begin) = (past.lost(), past.begin());
    match (told, lost) {
        (Err(reason), _) if matches!(leap, Leap::Spell(_)) => {
            let clock = state.now.time_of_day(begin);
            state.notice = Some(format!("{reason}: the states begin at {clock}"));
        }
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

fn rewind(state: &mut State, leap: Leap, forward: bool) -> Option<Effect> {
    let (notice, effect) = match (state.phase(), forward) {
        (_, true) => (LIVE, None),
        (Phase::Live, false) => {
            let reading = "reading the states that the process keeps ...";
            (reading, Some(Effect::Rewind(leap)))
        }
        (_, false) => (
            "the process does not answer: its states cannot be read",
            None,
        ),
    };
    state.notice = Some(notice.to_owned());
    effect
}

/// The states that the watched process keeps have arrived: the last one is shown, or the one before
/// it to which the key leads.
pub(super) fn kept(state: &mut State, way: Leap, kept: Result<Past, String>) {
    match kept {
        Ok(past) => {
            state.link.past = Some(past);
            // What the process sent last is not of that time.
            state.pending.held = None;
            state.notice = None;
            forget_last_minute(state);
            if way != Leap::State {
                go(state, way, false);
            }
            say_how_far_apart(state);
            let is_missing = matches!(way, Leap::Spell(_)) && state.notice.is_some();
            if is_missing {
                // There is nothing to look at: the process is watched on.
                state.link.past = None;
            }
        }
        Err(reason) => state.notice = Some(reason),
    }
}

/// Says that there are few states, if so.
fn say_how_far_apart(state: &mut State) {
    let apart_ns = state.link.past.as_ref().map_or(0, Past::apart_ns);
    if apart_ns >= 2 * units::SECOND && state.notice.is_none() {
        let apart = units::duration(apart_ns, state.style().micro);
        state.say(format!(
            "{apart} from one state to the next: each takes the process long"
        ));
    }
}

/// Requests the last state; of a process that is watched, the live one.
pub(super) fn end(state: &mut State) {
    if state.link.peer.is_some() {
        match state.link.past.take() {
            Some(_) => forget_last_minute(state),
            None => state.notice = Some(LIVE.to_owned()),
        }
    } else if let Some(past) = &mut state.link.past {
        past.end();
    }
}

/// The histories of the last minute have what was shown: another time has another one.
fn forget_last_minute(state: &mut State) {
    state.visit.trends = Default::default();
    state.visit.lengths = Default::default();
}

/// The requested state cannot be read.
pub(super) fn unread(state: &mut State, reason: String) {
    if let Some(past) = &mut state.link.past {
        past.stay();
    }
    state.notice = Some(reason);
}
