//! Admission: a client is admitted if there is a slot for it. One that sends no request, or takes
//! no bytes, is dropped.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::classes::{Classes, HeldClasses};
use super::quota::{Account, House};
use super::status::{Code, Status};

/// Maximum time until the first admitted request of a connection.
const GREETING_TIME: Duration = Duration::from_secs(5);

/// Connections beyond the limit that still get a refusal; further ones are closed without one.
const SPARE: usize = 8;

/// Client slots of one listener.
pub(super) struct Slots {
    taken: Arc<AtomicUsize>,
    max: usize,
    house: Arc<House>,
}

/// One slot; released on drop.
struct Slot(Arc<AtomicUsize>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Slots {
    pub(super) fn new(max: usize, house: Arc<House>) -> Self {
        Self {
            taken: Arc::default(),
            max,
            house,
        }
    }

    /// Takes a slot for the connection, if there is one for at least a refusal.
    pub(super) fn admit(&self, stream: impl Duplex) -> Option<Admitted> {
        let before = self.taken.fetch_add(1, Ordering::Relaxed);
        let slot = Slot(Arc::clone(&self.taken));
        let pass = Arc::new(Pass {
            crowded: before >= self.max,
            known: AtomicBool::new(false),
            account: Account::new(&self.house),
            classes: OnceLock::new(),
        });
        let greeting = Some(Box::pin(tokio::time::sleep(GREETING_TIME)));
        let admitted = Admitted {
            stream: Box::new(stream),
            pass,
            greeting,
            stall: None,
            _slot: slot,
        };
        (before < self.max.saturating_add(SPARE)).then_some(admitted)
    }
}

/// What is known of a connection.
pub(super) struct Pass {
    crowded: bool,
    known: AtomicBool,
    account: Arc<Account>,
    /// The classes of events that the connection asks for, as long as it lasts.
    classes: OnceLock<HeldClasses>,
}

impl Pass {
    /// What the connection asks for of these classes.
    pub(super) fn classes(&self, all: &Arc<Classes>) -> &HeldClasses {
        self.classes.get_or_init(|| all.join())
    }

    /// Quota account of the connection.
    pub(super) fn account(&self) -> &Arc<Account> {
        &self.account
    }
}

/// A connection of any listener. One type for all of them, so that the code of the protocol is
/// compiled once.
pub(super) trait Duplex: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Duplex for S {}

/// A connection with a slot.
pub(super) struct Admitted {
    stream: Box<dyn Duplex>,
    pass: Arc<Pass>,
    greeting: Option<Pin<Box<Sleep>>>,
    stall: Option<Pin<Box<Sleep>>>,
    _slot: Slot,
}

impl Admitted {
    pub(super) fn pass(&self) -> &Arc<Pass> {
        &self.pass
    }

    /// Returns an error if the connection has had no admitted request in time.
    fn check_greeting(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let Some(greeting) = &mut self.greeting else {
            return Ok(());
        };
        if self.pass.known.load(Ordering::Relaxed) {
            self.greeting = None;
        } else if greeting.as_mut().poll(context).is_ready() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }

    /// Returns an error if the connection has taken nothing of what was made for it for too long.
    fn check_taking(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let account = &self.pass.account;
        let Some(at) = account.stalls_at() else {
            self.stall = None;
            return Ok(());
        };
        let stall = self
            .stall
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(at)));
        while stall.as_mut().poll(context).is_ready() {
            if at <= Instant::now() {
                account.house().count_dropped();
                return Err(io::ErrorKind::TimedOut.into());
            }
            stall.as_mut().reset(at);
        }
        Ok(())
    }
}

impl AsyncRead for Admitted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check_greeting(context)?;
        self.check_taking(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Admitted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        // While the socket is full, the connection does not read.
        self.check_taking(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check_taking(context)?;
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Checks every request before the service sees it.
#[derive(Clone)]
pub(super) struct Gate {
    crowded: Arc<str>,
}

impl Gate {
    pub(super) fn new(label: &str, max_clients: usize) -> Self {
        let crowded = format!(
            "{label} has {max_clients} consoles attached, which is its limit: close one of them"
        );
        Self {
            crowded: crowded.into(),
        }
    }

    /// Lets a request of a connection through, unless there are too many connections.
    pub(super) fn check(&self, pass: &Pass) -> Result<(), Status> {
        if pass.crowded {
            return Err(Status::new(Code::ResourceExhausted, &*self.crowded));
        }
        pass.known.store(true, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::io::AsyncReadExt;

    use super::{House, SPARE, Slots};

    fn slots(max: usize) -> Slots {
        Slots::new(max, House::new(Duration::ZERO, Arc::new(|_| {})))
    }

    #[tokio::test]
    async fn places_are_counted_and_given_back() {
        let slots = slots(2);
        let mut taken: Vec<_> = (0..2 + SPARE)
            .map(|_| slots.admit(tokio::io::empty()))
            .collect();
        let crowded: Vec<_> = taken
            .iter()
            .flatten()
            .map(|admitted| admitted.pass.crowded)
            .collect();
        assert_eq!(crowded.iter().filter(|crowded| !**crowded).count(), 2);
        assert_eq!(crowded.len(), 2 + SPARE);
        assert!(
            slots.admit(tokio::io::empty()).is_none(),
            "no place, and it takes none"
        );
        taken.clear();
        assert!(
            slots
                .admit(tokio::io::empty())
                .is_some_and(|admitted| !admitted.pass.crowded)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn who_asks_for_nothing_is_let_go() {
        let slots = slots(1);
        let (stream, _silent) = tokio::io::duplex(64);
        let mut admitted = slots.admit(stream).unwrap();
        let error = admitted.read_u8().await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    }
}
