//! What the halves of one channel share: the channel is closed once its last sender is gone, as in tokio.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::intent::ResourceRef;
use crate::resource::{End, Kind, Resource, Role, Stamp};

/// The resource, and how many strong senders hold it.
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

/// A sender's share. It goes after tokio's sender, so that the record never closes before the channel.
pub(super) struct Tx {
    end: End,
    channel: Arc<Channel>,
}

impl Tx {
    /// The first sender of a new channel.
    #[track_caller]
    pub(super) fn new(kind: Kind, capacity: Option<usize>) -> Self {
        let resource = Resource::new(kind, capacity);
        let end = resource.end(Role::Send);
        let senders = AtomicUsize::new(1);
        let channel = Arc::new(Channel { resource, senders });
        Self { end, channel }
    }

    /// One more receiver.
    pub(super) fn rx(&self) -> Rx {
        let channel = self.channel.clone();
        let end = channel.resource.end(Role::Receive);
        Rx { end, channel }
    }

    /// For a sender that keeps nothing open.
    pub(super) fn downgrade(&self) -> WeakTx {
        WeakTx(self.channel.clone())
    }

    /// An item that has its place comes in. Counted before anyone could take it out.
    #[inline]
    pub(super) fn stamp<T>(&self, item: T) -> Stamped<T> {
        let stamped = Stamped::now(item);
        self.put_stamped(stamped.stamp);
        stamped
    }

    /// The current task is who sends here.
    #[inline]
    pub(super) fn used(&self) {
        self.end.used();
    }
}

impl Tx {
    /// What intents name.
    pub(super) fn meant(&self) -> ResourceRef<'_> {
        self.channel.resource.meant_by(&self.end)
    }
}

impl Rx {
    /// What intents name.
    pub(super) fn meant(&self) -> ResourceRef<'_> {
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
    /// A sender's share, if there is a sender to go with it. Counted before the sender comes to be: whoever drops the last one at
    /// the same time then knows of this one.
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
    /// The current task is who receives here.
    #[inline]
    pub(super) fn used(&self) {
        self.end.used();
    }

    /// Takes an item out of its envelope.
    pub(super) fn open<T>(&self, stamped: Stamped<T>) -> T {
        self.took(std::iter::once(stamped.stamp));
        stamped.item
    }

    /// Takes many items out, in order. How many.
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

/// The share of a receiver without which nothing can be sent.
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

/// An item, and when it came in.
#[derive(Clone)]
pub(super) struct Stamped<T> {
    pub(super) stamp: Stamp,
    pub(super) item: T,
}

impl<T> Stamped<T> {
    /// Comes in now.
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
