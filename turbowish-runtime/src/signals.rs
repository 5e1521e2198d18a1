//! SIGTERM with a report asked for: print it, then end as the signal would have, unless the
//! application has a way of its own to end.
//!
//! A handler in place of the default action keeps the process alive, so somebody must end it. If nobody
//! else listens for signals, this does, at once. If somebody may, the signal is left to them, and so is
//! the report: their way out drops the guard or exits. A second signal ends the process in any case.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGTERM;
use signal_hook::iterator::Signals;
use signal_hook::{SigId, flag, low_level};

use crate::exit;
use crate::init::say;

/// Starts the listening thread, unless SIGTERM would not end the process anyway. SIGINT is not listened
/// for: once it is, a program's own `ctrl_c` could not be told from a handler for SIGTERM.
pub(crate) fn watch() {
    if (mask("SigCgt:") | mask("SigIgn:")) & bit(SIGTERM) != 0 {
        return;
    }
    let listening = Signals::new([SIGTERM]).and_then(|signals| {
        let before = Registrations::now();
        let thread = std::thread::Builder::new().name("turbowish-exit".to_owned());
        thread.spawn(move || listen(signals, before))
    });
    if let Err(error) = listening {
        say(&format!("no report at SIGTERM: {error}"));
    }
}

fn listen(mut signals: Signals, before: Option<Registrations>) {
    let mut again = false;
    for _ in &mut signals {
        let alone = before
            .zip(Registrations::now())
            .is_some_and(|(before, now)| now.only_ours_since(&before));
        if alone || again {
            exit::leave();
            let _ = low_level::emulate_default_handler(SIGTERM);
        }
        again = true;
    }
}

/// How many actions for signals were registered in this process, and which signals are caught.
#[derive(Clone, Copy)]
struct Registrations {
    next: u128,
    caught: u64,
}

impl Registrations {
    /// Registers and removes an action to read its number; `None` if it cannot be told.
    fn now() -> Option<Self> {
        let probe = flag::register(SIGTERM, Arc::new(AtomicBool::new(false))).ok()?;
        low_level::unregister(probe);
        Some(Self {
            next: number(&probe)?,
            caught: mask("SigCgt:"),
        })
    }

    /// Whether nobody else can have registered for SIGTERM since: every registration in between
    /// was the first one of a signal that was not caught before (an async runtime makes one each).
    fn only_ours_since(&self, before: &Self) -> bool {
        let between = self.next.checked_sub(before.next + 1);
        let newly_caught = (self.caught & !before.caught).count_ones();
        between == Some(u128::from(newly_caught))
    }
}

const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// A set of signals of this process (Linux tells; elsewhere it is empty).
fn mask(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix(name));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

/// The process-wide table numbers its actions in order and shows the number only in its debug form.
fn number(id: &SigId) -> Option<u128> {
    let text = format!("{id:?}");
    let digits = text.split("ActionId(").nth(1)?.split(')').next()?;
    digits.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use signal_hook::consts::{SIGTERM, SIGUSR2};
    use signal_hook::flag;

    use super::Registrations;

    #[test]
    fn other_signals_do_not_count_but_a_second_listener_does() {
        let listen =
            |signal| flag::register(signal, Arc::new(AtomicBool::new(false))).expect("registered");
        let before = Registrations::now().expect("the number is readable");
        let mut last = before;
        let mut check = |expected: bool| {
            let now = Registrations::now().expect("readable");
            assert_eq!(now.only_ours_since(&last), expected);
            last = now;
        };
        check(true);
        listen(SIGUSR2);
        check(true);
        listen(SIGTERM);
        check(false);
        listen(SIGUSR2);
        check(false);
    }
}
