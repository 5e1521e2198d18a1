//! Handling of termination signals: the files that a command has created are removed before it
//! exits.

use std::io;
use std::time::Instant;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals by which users and their terminals end a program.
pub(crate) struct Signals {
    kinds: [(SignalKind, Signal); 3],
    /// Interrupts before this time are ignored.
    deaf: Option<Instant>,
}

impl Signals {
    /// Installs handlers, so that none of these signals ends the process directly. Must be called
    /// inside a runtime.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn new() -> io::Result<Self> {
        let listen = |kind: SignalKind| Ok::<_, io::Error>((kind, signal(kind)?));
        Ok(Self {
            kinds: [
                listen(SignalKind::terminate())?,
                listen(SignalKind::interrupt())?,
                listen(SignalKind::hangup())?,
            ],
            deaf: None,
        })
    }

    /// Ignores interrupts until `until`.
    pub(crate) const fn ignore_interrupts(&mut self, until: Instant) {
        self.deaf = Some(until);
    }

    /// Waits for the first signal that is not ignored.
    pub(crate) async fn first(&mut self) -> SignalKind {
        loop {
            let signal = self.any().await;
            if is_ours(signal, self.deaf, Instant::now()) {
                return signal;
            }
        }
    }

    async fn any(&mut self) -> SignalKind {
        let [terminate, interrupt, hangup] = &mut self.kinds;
        tokio::select! {
            _ = terminate.1.recv() => terminate.0,
            _ = interrupt.1.recv() => interrupt.0,
            _ = hangup.1.recv() => hangup.0,
        }
    }

    /// Waits for the first signal other than an interrupt, which is meant for the program in the
    /// foreground.
    pub(crate) async fn but_interrupt(&mut self) -> SignalKind {
        loop {
            let signal = self.first().await;
            if signal != SignalKind::interrupt() {
                return signal;
            }
        }
    }
}

fn is_ours(signal: SignalKind, deaf: Option<Instant>, now: Instant) -> bool {
    signal != SignalKind::interrupt() || deaf.is_none_or(|until| now >= until)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn late_interrupts_are_not_ours() {
        let now = Instant::now();
        let later = now + Duration::from_millis(200);
        let check = |signal, deaf, expected| assert_eq!(is_ours(signal, deaf, now), expected);
        check(SignalKind::interrupt(), None, true);
        check(SignalKind::interrupt(), Some(later), false);
        check(SignalKind::interrupt(), Some(now), true);
        check(SignalKind::terminate(), Some(later), true);
        check(SignalKind::hangup(), Some(later), true);
    }
}
