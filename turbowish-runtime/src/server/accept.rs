//! Accept loop: continues after any error, at a limited pace, up to a maximum number of clients,
//! and accepts permitted peers only.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::Sleep;

use super::admit::{Admitted, Duplex, Slots};

/// Pause between attempts when the process has no descriptor or memory left for a client.
const PAUSE: Duration = Duration::from_millis(100);

/// A Unix or TCP listener.
pub(super) trait Listen: Unpin {
    /// Type of its connections.
    type Stream: Duplex;

    /// Accepts the next connection.
    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Self::Stream>>;

    /// Whether the peer is permitted, before a byte of it is read.
    fn may_enter(stream: &Self::Stream) -> bool;

    /// Name of the listener in lines on stderr.
    fn name(&self) -> String;
}

/// The admitted connections of a listener.
pub(super) struct Incoming<L> {
    listener: L,
    slots: Slots,
    pause: Option<Pin<Box<Sleep>>>,
}

impl<L: Listen> Incoming<L> {
    pub(super) fn new(listener: L, slots: Slots) -> Self {
        Self {
            listener,
            slots,
            pause: None,
        }
    }

    /// The next connection. It is cancel safe.
    pub(super) async fn next(&mut self) -> Admitted {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Admitted> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(context));
                self.pause = None;
            }
            match ready!(self.listener.poll_accept(context)) {
                Ok(stream) if L::may_enter(&stream) => {
                    // Beyond the limit the connection is dropped here, which closes it.
                    if let Some(admitted) = self.slots.admit(stream) {
                        return Poll::Ready(admitted);
                    }
                }
                Ok(_stranger) => {}
                Err(error) if is_of_the_client(&error) => {}
                Err(_) => self.pause = Some(Box::pin(tokio::time::sleep(PAUSE))),
            }
        }
    }
}

/// The client left before it was accepted: no reason to pause.
fn is_of_the_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::io;
    use std::sync::Arc;
    use std::task::{Context, Poll};
    use std::time::Duration;

    use tokio::io::DuplexStream;

    use super::super::quota::House;
    use super::{Incoming, Listen, Slots};

    /// Yields its results in order, then nothing more.
    struct Script(VecDeque<io::Result<DuplexStream>>);

    impl Listen for Script {
        type Stream = DuplexStream;

        fn poll_accept(&mut self, _: &mut Context<'_>) -> Poll<io::Result<DuplexStream>> {
            self.0.pop_front().map_or(Poll::Pending, Poll::Ready)
        }

        fn may_enter(_: &DuplexStream) -> bool {
            true
        }

        fn name(&self) -> String {
            "script".to_owned()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn accepting_goes_on_after_errors() {
        let fault = |errno: rustix::io::Errno| Err(io::Error::from(errno));
        let (stream, _far) = tokio::io::duplex(64);
        let script = [
            fault(rustix::io::Errno::MFILE),
            fault(rustix::io::Errno::CONNABORTED),
            fault(rustix::io::Errno::NOBUFS),
            Ok(stream),
        ];
        let slots = Slots::new(1, House::new(Duration::ZERO, Arc::new(|_| {})));
        let mut incoming = Incoming::new(Script(script.into()), slots);
        let before = tokio::time::Instant::now();
        incoming.next().await;
        assert_eq!(
            before.elapsed(),
            2 * super::PAUSE,
            "waits where waiting can help, and only there"
        );
    }
}
