//! SIGTERM with a report asked for: print it, then end as the signal would have, unless the application
//! has a way of its own to end.
//!
//! A handler in place of the default action keeps the process alive, so somebody must end it. If nobody
//! else listens for signals, this does, at once. If somebody does, they are left to it; a second SIGTERM
//! ends the process in any case.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGTERM;
use signal_hook::iterator::Signals;
use signal_hook::{SigId, flag, low_level};

use crate::exit;
use crate::init::say;

/// Starts the listening thread, unless the application handles SIGTERM already: then its own way out
/// drops the guard or exits, and both print the report.
pub(crate) fn watch() {
    if handled_by_application() {
        return;
    }
    let listening = Signals::new([SIGTERM]).and_then(|signals| {
        let mark = mark();
        let thread = std::thread::Builder::new().name("turbowish-exit".to_owned());
        thread.spawn(move || listen(signals, mark))
    });
    if let Err(error) = listening {
        say(&format!("no report at SIGTERM: {error}"));
    }
}

fn listen(mut signals: Signals, before: Option<u128>) {
    let mut again = false;
    for _ in &mut signals {
        exit::leave();
        let alone = before
            .zip(mark())
            .is_some_and(|(before, now)| now == before + 1);
        if alone || again {
            let _ = low_level::emulate_default_handler(SIGTERM);
        }
        again = true;
    }
}

/// Whether a handler for SIGTERM was installed before ours (Linux tells; elsewhere nobody knows).
fn handled_by_application() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    caught & (1 << (SIGTERM - 1)) != 0
}

/// The number of the next registration in the process-wide table of signal actions: two marks one
/// apart mean that nobody registered an action in between. `None` if it cannot be told.
fn mark() -> Option<u128> {
    let probe = flag::register(SIGTERM, Arc::new(AtomicBool::new(false))).ok()?;
    low_level::unregister(probe);
    number(&probe)
}

/// The table numbers its actions in order and shows the number only in its debug form.
fn number(id: &SigId) -> Option<u128> {
    let text = format!("{id:?}");
    let digits = text.split("ActionId(").nth(1)?.split(')').next()?;
    digits.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::mark;

    #[test]
    fn a_registration_in_between_shows() {
        let first = mark().expect("the number is readable");
        assert_eq!(mark(), Some(first + 1));
        let other = super::flag::register(signal_hook::consts::SIGUSR2, super::Arc::default());
        assert_eq!(mark(), Some(first + 3));
        signal_hook::low_level::unregister(other.expect("registered"));
    }
}
