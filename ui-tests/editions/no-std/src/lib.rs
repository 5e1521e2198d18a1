//! A crate without std: nothing here names it, and nothing that the attribute prints does.

#![no_std]

extern crate alloc;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

/// Pending once.
#[derive(Debug, Default)]
pub struct Once(bool);

impl Future for Once {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if core::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Returns borrowed data after a wait.
#[turbowish::instrument]
pub async fn borrowed(text: &str, _: u32) -> Option<&[u8]> {
    Once::default().await;
    Some(text.as_bytes())
}

/// Fails on what is no number.
///
/// # Errors
///
/// What the parser says.
#[turbowish::instrument]
pub async fn parsed(text: &str) -> Result<u32, Box<dyn core::error::Error>> {
    Once::default().await;
    Ok(text.parse()?)
}

/// Never ends.
#[turbowish::instrument]
pub async fn endless() -> ! {
    loop {
        Once::default().await;
    }
}

/// Boxed, and recursive.
#[turbowish::instrument]
pub fn countdown(n: u32) -> Pin<Box<dyn Future<Output = Vec<u32>> + Send>> {
    Box::pin(async move {
        Once::default().await;
        let mut all = if n == 0 {
            Vec::new()
        } else {
            countdown(n - 1).await
        };
        all.push(n);
        all
    })
}

/// One poll.
#[turbowish::instrument]
#[must_use]
pub fn plain(n: u32) -> u32 {
    n + 1
}

/// A type with methods.
#[derive(Debug)]
pub struct Type<T>(pub T);

#[turbowish::instrument]
impl<T: Debug> Type<T> {
    /// Shows the value.
    #[must_use]
    pub async fn shown(&self) -> String {
        let shown = async { format!("{:?}", self.0) };
        Once::default().await;
        shown.await
    }

    /// Gives the value.
    pub async fn taken(self, (): ()) -> T {
        Once::default().await;
        self.0
    }
}
