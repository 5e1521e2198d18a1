//! SIGTERM handling when a report is requested: writes the report, then ends the process as the
//! signal would have.
//!
//! This applies only while nothing else handles SIGTERM, which is checked at each signal
//! ([`turbowish_unsafe::signal`]). A program with its own handler is left alone: it drops the guard
//! or exits on its own.

use turbowish_unsafe::signal::{self, Sigterm};

use crate::exit;
use crate::hot::thread;
use crate::log::say;

/// Listens if SIGTERM would end the process. SIGINT is left alone: ctrl-C should end the program at
/// once.
pub(crate) fn watch() {
    if !signal::is_default() {
        return;
    }
    let listening = signal::pipe().and_then(|(sigterm, ear)| {
        // The thread starts before the handler is set: without the thread, SIGTERM would no longer
        // end the process.
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
