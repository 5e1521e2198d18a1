//! The same source twice, plain and instrumented, and a driver that writes down everything that can be seen of a future.
//!
//! A log is what happened, in order: polls, drops, values, panics. Two programs that mean the same have the same logs, wherever
//! they are cancelled.

use std::cell::RefCell;
use std::fmt::Debug;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// `mod plain { … } #[turbowish::instrument] mod instrumented { … }`
macro_rules! twice {
    ($($items:tt)*) => {
        mod plain {
            #[allow(unused_imports)]
            use super::*;
            $($items)*
        }
        #[turbowish::instrument]
        mod instrumented {
            #[allow(unused_imports)]
            use super::*;
            $($items)*
        }
    };
}

/// Both twins leave the same log, whenever they are dropped, and their futures have the same auto traits.
macro_rules! same {
    ($($call:ident $arguments:tt;)*) => {$(
        for polls in 0..8 {
            let plain = log!(polls, plain::$call $arguments);
            let instrumented = log!(polls, instrumented::$call $arguments);
            assert_eq!(plain, instrumented, "{}, dropped after {} polls", stringify!($call), polls);
        }
        assert_eq!(
            auto_traits!(plain::$call $arguments),
            auto_traits!(instrumented::$call $arguments),
            "Send, Sync, Unpin, UnwindSafe, RefUnwindSafe of {}",
            stringify!($call)
        );
    )*};
}

/// The log of a future until its end, and nothing afterwards but its drop.
macro_rules! whole {
    ($call:expr) => {
        log!(100, $call).join(" ")
    };
}

/// What happens when the call is made, polled so many times or until its end, and dropped.
macro_rules! log {
    ($polls:expr, $call:expr) => {
        crate::twice::guarded(|| match $call {
            future => crate::twice::drive($polls, future),
        })
    };
}

/// Which auto traits the future of a call has. Blocks of the function that asks cannot be asked about: they are not compiled yet.
macro_rules! auto_traits {
    ($call:expr) => {{
        #[allow(unused_imports)]
        use crate::twice::Lacks as _;
        match crate::twice::Probe::of(&$call) {
            probe => [
                probe.is_send(),
                probe.is_sync(),
                probe.is_unpin(),
                probe.is_unwind_safe(),
                probe.is_ref_unwind_safe(),
            ],
        }
    }};
}

thread_local!(static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) });

/// Adds a line.
pub(crate) fn say(line: impl Into<String>) {
    LOG.with(|log| log.borrow_mut().push(line.into()));
}

/// All lines so far.
pub(crate) fn taken() -> Vec<String> {
    LOG.with(RefCell::take)
}

/// Says its name when it is dropped.
#[derive(Debug)]
pub(crate) struct Loud(pub(crate) &'static str);

impl Drop for Loud {
    fn drop(&mut self) {
        say(format!("-{}", self.0));
    }
}

impl Loud {
    /// A guard, as of a lock.
    pub(crate) fn guard(&self, name: &'static str) -> Guard<'_> {
        say(format!("+{name}"));
        Guard(self, Loud(name))
    }
}

/// Borrows, and has a destructor.
#[derive(Debug)]
pub(crate) struct Guard<'a>(pub(crate) &'a Loud, Loud);

impl Guard<'_> {
    pub(crate) fn get(&self) -> Option<usize> {
        say(format!("get {}", (self.1).0));
        Some((self.0).0.len())
    }
}

/// Gives the value after one more poll, and says so.
pub(crate) async fn later<T>(value: T) -> T {
    say("later");
    Once(false).await;
    value
}

/// Pending once.
pub(crate) struct Once(pub(crate) bool);

impl Future for Once {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            Poll::Ready(())
        } else {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    }
}

/// Polls the future so many times or until its end, and drops it.
pub(crate) fn drive<F>(polls: usize, future: F)
where
    F: Future,
    F::Output: Debug,
{
    let mut future = Box::pin(future);
    say("made");
    for _ in 0..polls {
        say("poll");
        let polled = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        if let Poll::Ready(value) = polled {
            say(format!("={:?}", value));
            break;
        }
    }
    say("drop");
}

/// The log of a run, panics included.
pub(crate) fn guarded(run: impl FnOnce()) -> Vec<String> {
    drop(taken());
    if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned());
        say(format!(
            "panic {:?}",
            text.or_else(|| payload.downcast_ref::<String>().cloned())
        ));
    }
    taken()
}

/// Has a method where its type has the trait; the trait's own methods say no.
pub(crate) struct Probe<T>(PhantomData<T>);

impl<T> Probe<T> {
    pub(crate) fn of(_: &T) -> Self {
        Probe(PhantomData)
    }
}

/// What is left to a type without the traits.
pub(crate) trait Lacks {
    fn is_send(&self) -> bool {
        false
    }
    fn is_sync(&self) -> bool {
        false
    }
    fn is_unpin(&self) -> bool {
        false
    }
    fn is_unwind_safe(&self) -> bool {
        false
    }
    fn is_ref_unwind_safe(&self) -> bool {
        false
    }
}

impl<T> Lacks for Probe<T> {}

macro_rules! has {
    ($($bound:ident $method:ident)*) => {$(
        impl<T: $bound> Probe<T> {
            pub(crate) fn $method(&self) -> bool {
                true
            }
        }
    )*};
}
has!(Send is_send Sync is_sync Unpin is_unpin UnwindSafe is_unwind_safe RefUnwindSafe is_ref_unwind_safe);
