//! SIGTERM with a report asked for: the report is written, then the process ends as the signal would have ended it.
//!
//! That is so only while nobody else handles SIGTERM, which is asked at each signal ([`turbowish_unsafe::signal`]). A program that
//! has a way of its own to end is left to it: its way out drops the guard or exits.

use turbowish_unsafe::signal::{self, Sigterm};

use crate::exit;
use crate::hot::thread;
use crate::log::say;

/// Listens, if SIGTERM would end the process. SIGINT is left alone: who presses ctrl-C wants the end at once.
pub(crate) fn watch() {
    if !signal::is_default() {
        return;
    }
    let listening = signal::pipe().and_then(|(sigterm, ear)| {
        // The thread comes first: without it SIGTERM would end nothing.
        thread::start("turbowish-exit", move || listen(sigterm))?;
        signal::listen(ear)
    });
    if let Err(error) = listening {
        say(&format!("no report at SIGTERM: {error}"));
    }
}

fn listen(mut sigterm: Sigterm) {
    while sigterm.wait() {
        exit::leave();
        signal::end();
    }
}
