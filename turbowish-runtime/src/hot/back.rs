//! An await nested in the operand of another await: when it is ready, the call is at the outer
//! await point again.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::hot::call::at;
use crate::hot::proc::Proc;

pin_project! {
    /// A future after which the call is at `site` again.
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    #[derive(Debug)]
    pub struct Back<F> {
        #[pin]
        future: F,
        proc: &'static Proc,
        site: u32,
    }
}

/// Wraps `future`, which the body of a call of `proc` awaits after it has arrived at the await
/// point `site`.
#[inline]
pub fn back<F: IntoFuture>(proc: &'static Proc, site: u32, future: F) -> Back<F::IntoFuture> {
    Back {
        future: future.into_future(),
        proc,
        site,
    }
}

impl<F: Future> Future for Back<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let value = ready!(this.future.poll(cx));
        at(this.proc, *this.site, ());
        Poll::Ready(value)
    }
}
