//! Intents on types outside of `turbowish::sync`: pointers pass on their target; tokio's own
//! primitives, which are not observed, have no effect.
//!
//! A library may name tokio's own primitives in its intents: it then also compiles where another
//! crate enables the feature `tokio`.

use std::rc::Rc;
use std::sync::Arc;

use super::{IntentTarget, Unobserved, verb};
pub use crate::resource::{Link, ResourceRef};

macro_rules! pointers {
    ($($Pointer:ty)*) => {$(
        impl<V, T: IntentTarget<V> + ?Sized> IntentTarget<V> for $Pointer {
            type Observation = T::Observation;

            #[inline]
            fn resource_ref(&self) -> ResourceRef<'_> {
                T::resource_ref(self)
            }
        }
    )*};
}

pointers! { &T  &mut T  Arc<T>  Box<T>  Rc<T> }

macro_rules! unseen {
    ($($Verb:ident: $([$($T:ident)?] $Type:ty),*;)*) => {$($(
        impl<$($T: ?Sized)?> IntentTarget<verb::$Verb> for $Type {
            type Observation = Unobserved;

            #[inline]
            fn resource_ref(&self) -> ResourceRef<'_> {
                ResourceRef::NOTHING
            }
        }
    )*)*};
}

macro_rules! unseen_ends {
    ($($Verb:ident: $($Type:ident)::*;)*) => {$(
        impl<T> IntentTarget<verb::$Verb> for tokio::sync::$($Type)::*<T> {
            type Observation = Unobserved;

            #[inline]
            fn resource_ref(&self) -> ResourceRef<'_> {
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
