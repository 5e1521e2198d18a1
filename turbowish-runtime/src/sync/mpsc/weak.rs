//! Weak senders: they do not keep their channel open.

use std::fmt;

use super::sender::Sender;
use super::unbounded::UnboundedSender;
use crate::sync::Named;
use crate::sync::channel::{Stamped, WeakTx};

/// Defines both kinds of weak sender.
macro_rules! weak_senders {
    ($($(#[$doc:meta])* $Weak:ident of $Sender:ident)*) => {$(
        $(#[$doc])*
        pub struct $Weak<T> {
            inner: tokio::sync::mpsc::$Weak<Stamped<T>>,
            tx: WeakTx,
        }

        impl<T> $Weak<T> {
            pub(super) const fn new(inner: tokio::sync::mpsc::$Weak<Stamped<T>>, tx: WeakTx) -> Self {
                Self { inner, tx }
            }

            /// Same as [`tokio::sync::mpsc::WeakSender::upgrade`].
            pub fn upgrade(&self) -> Option<$Sender<T>> {
                let (inner, tx) = self.tx.upgrade(|| self.inner.upgrade())?;
                Some($Sender::new(inner, tx))
            }

            /// Same as [`tokio::sync::mpsc::WeakSender::strong_count`].
            pub fn strong_count(&self) -> usize {
                self.inner.strong_count()
            }

            /// Same as [`tokio::sync::mpsc::WeakSender::weak_count`].
            pub fn weak_count(&self) -> usize {
                self.inner.weak_count()
            }
        }

        impl<T> Clone for $Weak<T> {
            fn clone(&self) -> Self {
                Self::new(self.inner.clone(), self.tx.clone())
            }
        }

        impl<T> fmt::Debug for $Weak<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.inner.fmt(f)
            }
        }

        impl<T> Named for $Weak<T> {
            fn name(&self, name: &str) {
                self.tx.name(name);
            }
        }
    )*};
}

weak_senders! {
    /// Same as [`tokio::sync::mpsc::WeakSender`].
    WeakSender of Sender
    /// Same as [`tokio::sync::mpsc::WeakUnboundedSender`].
    WeakUnboundedSender of UnboundedSender
}
