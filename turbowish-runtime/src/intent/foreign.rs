//! What is not ours: pointers pass on what they point to, and tokio's own primitives, which are not seen, are nothing.
//!
//! A library may name tokio's own in its intents: it then compiles as well where somebody else turns the feature `tokio` on.

use std::rc::Rc;
use std::sync::Arc;

use super::{IntentTarget, ResourceRef, verb};

macro_rules! pointers {
    ($($Pointer:ty)*) => {$(
        impl<V, T: IntentTarget<V> + ?Sized> IntentTarget<V> for $Pointer {
            #[inline]
            fn meant(&self) -> ResourceRef<'_> {
                T::meant(self)
            }
        }
    )*};
}

pointers! { &T  &mut T  Arc<T>  Box<T>  Rc<T> }

macro_rules! unseen {
    ($($Verb:ident: $([$($T:ident)?] $Type:ty),*;)*) => {$($(
        impl<$($T: ?Sized)?> IntentTarget<verb::$Verb> for $Type {
            #[inline]
            fn meant(&self) -> ResourceRef<'_> {
                ResourceRef::NOTHING
            }
        }
    )*)*};
}

macro_rules! unseen_ends {
    ($($Verb:ident: $($Type:ident)::*;)*) => {$(
        impl<T> IntentTarget<verb::$Verb> for tokio::sync::$($Type)::*<T> {
            #[inline]
            fn meant(&self) -> ResourceRef<'_> {
                ResourceRef::NOTHING
            }
        }
    )*};
}

unseen! {
    Lock: [T] tokio::sync::Mutex<T>;
    Read: [T] tokio::sync::RwLock<T>;
    Write: [T] tokio::sync::RwLock<T>;
    Acquire: [] tokio::sync::Semaphore;
    Wait: [] tokio::sync::Notify, [] tokio::sync::Barrier;
}

unseen_ends! {
    Send: mpsc::Sender;
    Send: mpsc::UnboundedSender;
    Send: oneshot::Sender;
    Send: broadcast::Sender;
    Send: watch::Sender;
    Recv: mpsc::Receiver;
    Recv: mpsc::UnboundedReceiver;
    Recv: oneshot::Receiver;
    Recv: broadcast::Receiver;
    Recv: watch::Receiver;
    Wait: OnceCell;
    Wait: SetOnce;
}
