//! Reserved capacity: the owner of a permit is shown as a holder of that part of the channel until
//! the permit is used or dropped.

use std::fmt;
use std::iter::FusedIterator;
use std::panic::Location;

use super::sender::Sender;
use crate::resource::{Hold, OwnedHold, Role};
use crate::sync::channel::{Stamped, Tx};

/// Converts a number of places for the record. A number beyond the record's range saturates.
pub(super) fn amount(places: usize) -> u32 {
    u32::try_from(places).unwrap_or(u32::MAX)
}

/// Same as [`tokio::sync::mpsc::Permit`].
pub struct Permit<'a, T> {
    hold: Hold<'a>,
    inner: tokio::sync::mpsc::Permit<'a, Stamped<T>>,
    tx: &'a Tx,
}

impl<'a, T> Permit<'a, T> {
    pub(super) fn new(
        inner: tokio::sync::mpsc::Permit<'a, Stamped<T>>,
        tx: &'a Tx,
        at: &'static Location<'static>,
    ) -> Self {
        let hold = tx.hold(Role::Send, 1, at);
        Self { hold, inner, tx }
    }
}

impl<T> Permit<'_, T> {
    /// Same as [`tokio::sync::mpsc::Permit::send`].
    pub fn send(self, value: T) {
        let Self { hold, inner, tx } = self;
        tx.used();
        let stamped = tx.stamp(value);
        drop(hold);
        inner.send(stamped);
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// Same as [`tokio::sync::mpsc::PermitIterator`].
pub struct PermitIterator<'a, T> {
    /// The hold of the remaining capacity; the last permit takes it along.
    hold: Option<Hold<'a>>,
    inner: tokio::sync::mpsc::PermitIterator<'a, Stamped<T>>,
    tx: &'a Tx,
}

impl<'a, T> PermitIterator<'a, T> {
    pub(super) fn new(
        inner: tokio::sync::mpsc::PermitIterator<'a, Stamped<T>>,
        tx: &'a Tx,
        at: &'static Location<'static>,
    ) -> Self {
        let places = amount(inner.len());
        let hold = (places > 0).then(|| tx.hold(Role::Send, places, at));
        Self { hold, inner, tx }
    }
}

impl<'a, T> Iterator for PermitIterator<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Self::Item> {
        let inner = self.inner.next()?;
        let hold = match &mut self.hold {
            Some(hold) if self.inner.len() > 0 => hold.split(1),
            _ => self.hold.take()?,
        };
        let tx = self.tx;
        Some(Permit { hold, inner, tx })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

impl<T> ExactSizeIterator for PermitIterator<'_, T> {}
impl<T> FusedIterator for PermitIterator<'_, T> {}

impl<T> fmt::Debug for PermitIterator<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// Same as [`tokio::sync::mpsc::OwnedPermit`].
pub struct OwnedPermit<T> {
    hold: OwnedHold,
    inner: tokio::sync::mpsc::OwnedPermit<Stamped<T>>,
    tx: Tx,
}

impl<T> OwnedPermit<T> {
    pub(super) fn new(
        inner: tokio::sync::mpsc::OwnedPermit<Stamped<T>>,
        tx: Tx,
        at: &'static Location<'static>,
    ) -> Self {
        let hold = tx.hold_owned(Role::Send, 1, at);
        Self { hold, inner, tx }
    }

    /// Same as [`tokio::sync::mpsc::OwnedPermit::send`].
    pub fn send(self, value: T) -> Sender<T> {
        let Self { hold, inner, tx } = self;
        tx.used();
        let stamped = tx.stamp(value);
        drop(hold);
        Sender::new(inner.send(stamped), tx)
    }

    /// Same as [`tokio::sync::mpsc::OwnedPermit::release`].
    pub fn release(self) -> Sender<T> {
        let Self { hold, inner, tx } = self;
        drop(hold);
        Sender::new(inner.release(), tx)
    }

    /// Same as [`tokio::sync::mpsc::OwnedPermit::same_channel`].
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }

    /// Same as [`tokio::sync::mpsc::OwnedPermit::same_channel_as_sender`].
    pub fn same_channel_as_sender(&self, sender: &Sender<T>) -> bool {
        self.inner.same_channel_as_sender(sender.inner())
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
