//! State shared by both halves of a channel: the record closes with the last sender, as the channel
//! does in tokio.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::intent::ResourceRef;
use crate::resource::{End, Kind, Resource, Role, Stamp};

/// The resource, and the number of strong senders.
struct Channel {
    resource: Resource,
    senders: AtomicUsize,
}

impl Channel {
    fn leave(&self) {
        if self.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.resource.close();
        }
    }
}

/// A sender's share. Dropped after tokio's sender, so that the record never closes before the
/// channel.
pub(super) struct Tx {
    end: End,
    channel: Arc<Channel>,
}

impl Tx {
    /// Creates the share of a new channel's first sender.
    #[track_caller]
    pub(super) fn new(kind: Kind, capacity: Option<usize>) -> Self {
        let resource = Resource::new(kind, capacity);
        let end = resource.end(Role::Send);
        let senders = AtomicUsize::new(1);
        let channel = Arc::new(Channel { resource, senders });
        Self { end, channel }
    }

    /// Creates the share of another receiver.
    pub(super) fn rx(&self) -> Rx {
        let channel = self.channel.clone();
        let end = channel.resource.end(Role::Receive);
        Rx { end, channel }
    }

    /// Creates the share of a weak sender.
    pub(super) fn downgrade(&self) -> WeakTx {
        WeakTx(self.channel.clone())
    }

    /// Stamps and counts an item that has its place, before any receiver could take it out.
    #[inline]
    pub(super) fn stamp<T>(&self, item: T) -> Stamped<T> {
        let stamped = Stamped::now(item);
        self.put_stamped(stamped.stamp);
        stamped
    }

    /// Records the current task as a sender here.
    #[inline]
    pub(super) fn used(&self) {
        self.end.used();
    }
}

impl Tx {
    /// The resource that intents refer to.
    pub(super) fn resource_ref(&self) -> ResourceRef<'_> {
        self.channel.resource.meant_by(&self.end)
    }
}

impl Rx {
    /// The resource that intents refer to.
    pub(super) fn resource_ref(&self) -> ResourceRef<'_> {
        self.channel.resource.meant_by(&self.end)
    }
}

impl Clone for Tx {
    fn clone(&self) -> Self {
        self.channel.senders.fetch_add(1, Ordering::Relaxed);
        Self {
            end: self.end.clone(),
            channel: self.channel.clone(),
        }
    }
}

impl Drop for Tx {
    fn drop(&mut self) {
        self.channel.leave();
    }
}

impl Deref for Tx {
    type Target = Resource;
    fn deref(&self) -> &Resource {
        &self.channel.resource
    }
}

/// A weak sender's share.
#[derive(Clone)]
pub(super) struct WeakTx(Arc<Channel>);

impl WeakTx {
    /// Creates a sender's share if `sender` returns one. Counted before the sender exists, so that
    /// a concurrent drop of the last sender sees this one.
    pub(super) fn upgrade<S>(&self, sender: impl FnOnce() -> Option<S>) -> Option<(S, Tx)> {
        self.0.senders.fetch_add(1, Ordering::Relaxed);
        let Some(sender) = sender() else {
            self.0.leave();
            return None;
        };
        let channel = self.0.clone();
        let end = channel.resource.end(Role::Send);
        Some((sender, Tx { end, channel }))
    }
}

impl Deref for WeakTx {
    type Target = Resource;
    fn deref(&self) -> &Resource {
        &self.0.resource
    }
}

/// A receiver's share.
#[derive(Clone)]
pub(super) struct Rx {
    end: End,
    channel: Arc<Channel>,
}

impl Rx {
    /// Records the current task as a receiver here.
    #[inline]
    pub(super) fn used(&self) {
        self.end.used();
    }

    /// Unwraps an item and counts it out.
    pub(super) fn open<T>(&self, stamped: Stamped<T>) -> T {
        self.took(std::iter::once(stamped.stamp));
        stamped.item
    }

    /// Unwraps many items, in order, and returns their number.
    pub(super) fn unpack<T>(&self, batch: Vec<Stamped<T>>, buffer: &mut Vec<T>) -> usize {
        let count = batch.len();
        self.took(batch.iter().map(|stamped| stamped.stamp));
        buffer.extend(batch.into_iter().map(|stamped| stamped.item));
        count
    }
}

impl Deref for Rx {
    type Target = Resource;
    fn deref(&self) -> &Resource {
        &self.channel.resource
    }
}

/// The share of the single receiver: without it nothing can be sent.
pub(super) struct OnlyRx(pub(super) Rx);

impl Deref for OnlyRx {
    type Target = Rx;
    fn deref(&self) -> &Rx {
        &self.0
    }
}

impl Drop for OnlyRx {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// An item and the time at which it was sent.
#[derive(Clone)]
pub(super) struct Stamped<T> {
    pub(super) stamp: Stamp,
    pub(super) item: T,
}

impl<T> Stamped<T> {
    /// Stamps `item` with the current time.
    pub(super) fn now(item: T) -> Self {
        let stamp = Stamp::now();
        Self { stamp, item }
    }
}

impl<T> fmt::Debug for Stamped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stamped").finish_non_exhaustive()
    }
}
