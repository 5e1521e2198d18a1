//! Recordings that this console writes: what the process keeps, and its states from now on.

use std::mem::replace;

use turbowish_model::snapshot::units;

use super::save::file_name;
use crate::tui::message::Effect;
use crate::tui::state::{Peer, Phase, State, Taping};

/// Writes what the process keeps to a new file, one at a time: a key that is held down repeats.
pub(super) fn snapshot(state: &mut State) -> Option<Effect> {
    let (peer, name) = target(state, "P writes what a process keeps")?;
    state.notice = Some("reading what the process keeps ...".to_owned());
    let is_copying = replace(&mut state.visit.tapes.is_copying, true);
    (!is_copying).then_some(Effect::Snapshot(peer, name))
}

/// It is written, or not.
pub(super) fn copied(state: &mut State, written: Result<String, String>) {
    state.visit.tapes.is_copying = false;
    tell(state, written);
}

/// Begins to record the process, or ends that.
pub(super) fn record(state: &mut State) -> Option<Effect> {
    if state.visit.tapes.running.is_some() {
        return Some(Effect::EndRecord);
    }
    let (peer, name) = target(state, "R records a process")?;
    state.visit.tapes.running = Some(Taping {
        begun_ns: state.now.mono_ns,
        bytes: 0,
    });
    Some(Effect::Record(peer, name))
}

/// The watched process, and the name of a new file; says why there is none.
fn target(state: &mut State, what: &str) -> Option<(Peer, String)> {
    let reason = match (&state.link.peer, state.phase()) {
        (None, _) => format!("this is a recording already; {what}"),
        (Some(_), Phase::Gone { .. }) => {
            "the process has ended; turbowish recover makes a file of what it has left".to_owned()
        }
        (Some(peer), _) => {
            let shown = state.shown.as_ref()?;
            let name = file_name(state, &shown.process, state.now.unix_ns, "tw");
            return Some((peer.clone(), name));
        }
    };
    state.notice = Some(reason);
    None
}

/// More is in the file.
pub(super) fn written(state: &mut State, bytes: u64) {
    if let Some(tape) = &mut state.visit.tapes.running {
        tape.bytes = bytes;
    }
}

/// The recording has ended.
pub(super) fn ended(state: &mut State, ended: Result<String, String>) {
    state.visit.tapes.running = None;
    tell(state, ended);
}

fn tell(state: &mut State, written: Result<String, String>) {
    match written {
        Ok(told) => state.say(told),
        Err(reason) => state.notice = Some(reason),
    }
}

/// `REC 1m02s 3.2MiB`, if a recording is written.
pub(crate) fn progress(state: &State) -> Option<String> {
    let Taping { begun_ns, bytes } = state.visit.tapes.running.as_ref()?;
    let ns = state.now.mono_ns.saturating_sub(*begun_ns);
    let whole = ns / units::SECOND * units::SECOND;
    let time = units::duration(whole, state.look.glyphs.micro);
    Some(format!("REC {time} {}", units::bytes(*bytes)))
}
