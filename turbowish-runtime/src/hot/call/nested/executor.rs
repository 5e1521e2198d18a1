//! Wakers with which tokio's `block_on` polls, learned from tokio: only `block_on` makes such
//! wakers.

#[cfg(any(feature = "tokio", feature = "server"))]
mod tokio {
    use std::future::poll_fn;
    use std::sync::OnceLock;
    use std::task::{Poll, RawWakerVTable, Waker};

    use ::tokio::runtime::Builder;

    use crate::hot::thread;

    /// Vtables of the waker of a blocked thread and of that of a current-thread runtime.
    static KNOWN: OnceLock<Option<[&'static RawWakerVTable; 2]>> = OnceLock::new();

    /// Asks tokio, once, on a separate thread: the caller may be inside a runtime.
    pub(crate) fn learn() {
        KNOWN.get_or_init(|| {
            let (tell, told) = std::sync::mpsc::sync_channel(1);
            let asks = move || _ = tell.send(ask());
            thread::start("turbowish-asks", asks).ok()?.join().ok()?;
            told.recv().ok().flatten()
        });
    }

    fn ask() -> Option<[&'static RawWakerVTable; 2]> {
        let runtime = Builder::new_current_thread().build().ok()?;
        let vtable = || poll_fn(|cx| Poll::Ready(cx.waker().vtable()));
        Some([
            runtime.handle().block_on(vtable()),
            runtime.block_on(vtable()),
        ])
    }

    /// Whether `block_on` polls with this waker.
    pub(crate) fn is_blocking(waker: &Waker) -> bool {
        let known = KNOWN.get().copied().flatten();
        known.is_some_and(|known| known.contains(&waker.vtable()))
    }
}

#[cfg(not(any(feature = "tokio", feature = "server")))]
mod unknown {
    use std::task::Waker;

    pub(crate) const fn learn() {}

    /// Without tokio's crate nothing is known of its wakers.
    pub(crate) const fn is_blocking(_waker: &Waker) -> bool {
        false
    }
}

#[cfg(any(feature = "tokio", feature = "server"))]
pub(crate) use self::tokio::{is_blocking, learn};
#[cfg(not(any(feature = "tokio", feature = "server")))]
pub(crate) use self::unknown::{is_blocking, learn};
