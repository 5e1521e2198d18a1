//! What ends a command from outside ends it in good order: what it has made is removed on the way out.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals by which users and their terminals end a program.
pub(crate) struct Signals([(SignalKind, Signal); 3]);

impl Signals {
    /// From now on none of them ends the process by itself. Must be called inside a runtime.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn new() -> io::Result<Self> {
        let listen = |kind: SignalKind| Ok::<_, io::Error>((kind, signal(kind)?));
        Ok(Self([
            listen(SignalKind::terminate())?,
            listen(SignalKind::interrupt())?,
            listen(SignalKind::hangup())?,
        ]))
    }

    /// Waits for the first of them.
    pub(crate) async fn first(&mut self) -> SignalKind {
        let [terminate, interrupt, hangup] = &mut self.0;
        tokio::select! {
            _ = terminate.1.recv() => terminate.0,
            _ = interrupt.1.recv() => interrupt.0,
            _ = hangup.1.recv() => hangup.0,
        }
    }

    /// Waits for the first of them that is not an interrupt: that one is for the program in the foreground.
    pub(crate) async fn but_interrupt(&mut self) -> SignalKind {
        loop {
            let signal = self.first().await;
            if signal != SignalKind::interrupt() {
                return signal;
            }
        }
    }
}
