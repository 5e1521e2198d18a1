//! Drop-in wrappers of tokio's `mpsc` channels: observes who waits at either end, how many items
//! are inside, and for how long.

mod permit;
mod receiver;
mod sender;
mod unbounded;
mod weak;

use crate::resource::Kind;
use crate::sync::Named;
use crate::sync::channel::{OnlyRx, Tx};

pub use tokio::sync::mpsc::error;

pub use permit::{OwnedPermit, Permit, PermitIterator};
pub use receiver::{Receiver, UnboundedReceiver};
pub use sender::Sender;
pub use unbounded::UnboundedSender;
pub use weak::{WeakSender, WeakUnboundedSender};

/// Same as [`tokio::sync::mpsc::channel`]; waiters, items and their time inside are observed.
///
/// # Panics
/// If `buffer` is zero, or more than [`tokio::sync::Semaphore::MAX_PERMITS`].
///
/// ```
/// use turbowish::sync::mpsc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let (rows, mut inbox) = mpsc::channel(1);
/// turbowish::spawn(async move {
///     for row in 1..=3 {
///         // The second row waits for room: consoles show the sender and the receiver.
///         let _ = rows.send(row).await;
///     }
/// });
/// let mut sum = 0;
/// while let Some(row) = inbox.recv().await {
///     sum += row;
/// }
/// assert_eq!(sum, 6);
/// # }
/// ```
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = tokio::sync::mpsc::channel(buffer);
    let tx = Tx::new(Kind::Mpsc, Some(buffer));
    let rx = OnlyRx(tx.rx());
    (Sender::new(sender, tx), Receiver::new(receiver, rx))
}

/// Same as [`tokio::sync::mpsc::unbounded_channel`]; waiters, items and their time inside are
/// observed.
#[track_caller]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    let tx = Tx::new(Kind::Mpsc, None);
    let rx = OnlyRx(tx.rx());
    (
        UnboundedSender::new(sender, tx),
        UnboundedReceiver::new(receiver, rx),
    )
}

impl<T> Named for (Sender<T>, Receiver<T>) {
    fn name(&self, name: &str) {
        self.0.name(name);
    }
}

impl<T> Named for (UnboundedSender<T>, UnboundedReceiver<T>) {
    fn name(&self, name: &str) {
        self.0.name(name);
    }
}
